globalThis.windowseatScript={};
