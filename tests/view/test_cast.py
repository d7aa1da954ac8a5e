"""A cast over a scripted session: what is asked of the browser, and which pictures come of it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any

import pytest

from support.chromium import wait_until
from windowseat.view import cast as cast_module
from windowseat.view.cast import JPEG, PNG, Cast, Demand, Picture


class ScriptedSession:
    """Records commands, answers screenshots, and sends frames."""

    def __init__(self) -> None:
        self.commands: list[tuple[str, dict[str, Any]]] = []
        self.screenshots: list[asyncio.Future[dict[str, Any]]] = []
        self._listener: Callable[[dict[str, Any]], None] | None = None

    def on(self, method: str, listener: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
        assert method == "Page.screencastFrame"
        self._listener = listener
        return lambda: setattr(self, "_listener", None)

    def send(self, method: str, params: dict[str, Any]) -> None:
        self.commands.append((method.removeprefix("Page."), params))

    async def call(self, method: str, params: dict[str, Any], *, timeout: float) -> dict[str, Any]:
        self.commands.append((method.removeprefix("Page."), params))
        self.screenshots.append(asyncio.get_running_loop().create_future())
        return await self.screenshots[-1]

    def frame(self, data: bytes, size: tuple[int, int] = (1280, 800)) -> None:
        metadata = {"deviceWidth": size[0], "deviceHeight": size[1]}
        assert self._listener is not None
        self._listener({"data": base64.b64encode(data).decode(), "metadata": metadata, "sessionId": 1})

    def names(self) -> list[str]:
        return [name for name, _ in self.commands]


class Scene:
    def __init__(self) -> None:
        self.session = ScriptedSession()
        self.pictures: list[Picture] = []
        self.still = False
        self.tasks: list[asyncio.Task[None]] = []
        self.cast = Cast(
            self.session,  # type: ignore[arg-type]
            on_picture=self.pictures.append,
            stands_still=lambda: self.still,
            spawn=lambda work: self.tasks.append(asyncio.ensure_future(work)),
        )


@pytest.fixture
async def scene():
    found = Scene()
    yield found
    found.cast.close()
    for task in found.tasks:
        task.cancel()


async def test_one_cast_starts_with_the_first_demand_and_stops_with_the_last(scene: Scene):
    scene.cast.want(Demand.FULL)
    scene.cast.want(Demand.FULL)
    assert scene.session.names() == ["stopScreencast", "startScreencast"]
    scene.cast.want(Demand.OFF)
    assert scene.session.names()[2:] == ["stopScreencast"]


async def test_frames_are_acknowledged_at_once_and_the_same_one_is_told_once(scene: Scene):
    scene.cast.want(Demand.FULL)
    for data in (b"one", b"one", b"two"):
        scene.session.frame(data)
    assert scene.session.names().count("screencastFrameAck") == 3
    assert [picture.data for picture in scene.pictures] == [b"one", b"two"]
    assert (scene.pictures[0].kind, scene.pictures[0].width) == (JPEG, 1280)


async def test_thumbnails_are_acknowledged_late(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cast_module, "SMALL_EVERY", 0.05)
    scene.cast.want(Demand.SMALL)
    assert scene.session.commands[1][1]["maxWidth"] == 480
    scene.session.frame(b"one")
    assert "screencastFrameAck" not in scene.session.names()
    assert scene.pictures[0].small
    await wait_until(lambda: "screencastFrameAck" in scene.session.names())


async def test_a_sharp_picture_follows_a_quiet_page_and_is_known_again(scene: Scene):
    scene.cast.want(Demand.FULL)
    scene.session.frame(b"caret on")
    await wait_until(lambda: scene.session.screenshots)
    assert scene.session.commands[-1] == ("captureScreenshot", {"format": "png"})
    scene.session.screenshots[0].set_result({"data": base64.b64encode(b"sharp on").decode()})
    await wait_until(lambda: len(scene.pictures) == 2)
    assert (scene.pictures[1].kind, scene.pictures[1].sharp, scene.pictures[1].width) == (PNG, True, 1280)
    # A blinking caret: the picture that was seen before is sharp at once, without another screenshot.
    scene.session.frame(b"caret off")
    scene.session.frame(b"caret on")
    assert [picture.data for picture in scene.pictures[2:]] == [b"caret off", b"sharp on"]
    assert len(scene.session.screenshots) == 1


async def test_a_sharp_picture_that_comes_too_late_is_not_shown(scene: Scene):
    scene.cast.want(Demand.FULL)
    scene.session.frame(b"one")
    await wait_until(lambda: scene.session.screenshots)
    scene.session.frame(b"two")
    scene.session.screenshots[0].set_result({"data": base64.b64encode(b"sharp").decode()})
    await wait_until(lambda: scene.tasks[0].done())
    assert [picture.data for picture in scene.pictures] == [b"one", b"two"]


async def test_no_screenshot_while_a_dialog_is_open(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cast_module, "QUIET", 0.01)
    scene.still = True
    scene.cast._quiet = 0.01
    scene.cast.want(Demand.FULL)
    scene.session.frame(b"one")
    await wait_until(lambda: "quiet" not in scene.cast._timers)
    assert not scene.session.screenshots


async def test_a_frozen_cast_is_started_again_with_growing_patience(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cast_module, "CHECK_EVERY", 0.01)
    scene.cast._patience = 0.05
    scene.cast.want(Demand.FULL)
    await wait_until(lambda: scene.session.names().count("startScreencast") == 3)
    assert scene.cast._patience == pytest.approx(0.2)
    scene.session.frame(b"one")
    await wait_until(lambda: "check" not in scene.cast._timers)
    scene.cast.nudge()
    await wait_until(lambda: scene.session.names().count("startScreencast") >= 4)


async def test_a_coarser_level_starts_the_cast_anew(scene: Scene):
    scene.cast.want(Demand.FULL)
    scene.session.frame(b"one")
    scene.cast.set_level(2)
    name, params = scene.session.commands[-1]
    assert name == "startScreencast"
    assert (params["quality"], params["maxWidth"], params["maxHeight"]) == (40, 768, 480)


async def test_a_page_that_never_rests_is_not_asked_for_sharp_pictures_again_and_again(scene: Scene):
    scene.cast.want(Demand.FULL)
    for n in range(7):
        scene.session.frame(b"%d" % n)
        scene.cast._changed_at = 0.0  # long ago
        scene.cast._perhaps_quiet()
        scene.cast._timers.pop("quiet").cancel()
        await wait_until(lambda n=n: len(scene.session.screenshots) == n + 1)
        scene.session.frame(b"%d again" % n)  # it moved on while the picture was taken
        scene.session.screenshots[n].set_result({"data": base64.b64encode(b"late").decode()})
        await wait_until(lambda n=n: scene.tasks[n].done())
    assert scene.cast._quiet == cast_module.QUIET_AT_MOST
    assert not any(picture.sharp for picture in scene.pictures)
