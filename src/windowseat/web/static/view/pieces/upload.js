// Sends one file to the hub, with progress. XMLHttpRequest, for fetch tells nothing of what has gone out.

export class UploadFailed extends Error {}

/**
 * @param {File} file
 * @param {{address: string, credential: string, progress: (part: number) => void, signal: AbortSignal}} options
 *   progress: from 0 to 1
 * @returns {Promise<string>} the upload's id. Rejects with UploadFailed, whose message a person can read.
 */
export function upload(file, { address, credential, progress, signal }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = (/** @type {string} */ message) => reject(new UploadFailed(message));
    request.open("POST", address);
    request.responseType = "json";
    request.setRequestHeader("X-Windowseat-View", credential);
    request.setRequestHeader("X-Windowseat-Name", encodeURIComponent(file.name));
    request.upload.onprogress = (event) => {
      if (event.lengthComputable && event.total > 0) progress(event.loaded / event.total);
    };
    request.onload = () => {
      const id = request.response?.upload;
      if (request.status === 200 && typeof id === "string") resolve(id);
      else fail(reason(request.status));
    };
    request.onerror = () => fail("The connection broke");
    request.onabort = () => fail("Cancelled");
    signal.addEventListener("abort", () => request.abort(), { once: true });
    // An explicit type keeps the browser from naming the file's own.
    request.send(new Blob([file], { type: "application/octet-stream" }));
  });
}

/** @param {number} status */
function reason(status) {
  if (status === 413) return "Too large (4 GiB at most)";
  if (status === 401 || status === 403) return "This view is no longer let in";
  if (status === 507) return "The machine's disk is full";
  return `Not taken (${status})`;
}
