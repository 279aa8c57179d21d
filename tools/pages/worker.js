// Browsers start no workers for pages that are opened from a folder, but the search of the site
// is one. There, it runs in a frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.append(frame);
      const inside = frame.contentWindow, script = frame.contentDocument.createElement("script");
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", {data}));
      const ready = new Promise(done => script.addEventListener("load", done));
      this.postMessage = data =>
        ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", {data})));
      script.src = address;
      frame.contentDocument.body.append(script);
    }
  };
}
