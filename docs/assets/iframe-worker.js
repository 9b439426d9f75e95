// Browsers start no workers from a disk, and the search is one: there a hidden frame takes its place.
if (location.protocol === 'file:') {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      this.frame = document.createElement('iframe')
      this.frame.hidden = true
      document.body.append(this.frame)
      const page = this.frame.contentDocument
      const inside = this.frame.contentWindow
      // What the worker sends comes out here, not in its own frame.
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent('message', { data }))
      const script = page.createElement('script')
      script.src = url
      script.onload = () => {
        this.send = (data) => inside.dispatchEvent(new MessageEvent('message', { data }))
        this.waiting.forEach(this.send)
      }
      page.body.append(script)
    }

    postMessage(data) {
      if (this.send) this.send(data)
      else this.waiting.push(data)
    }

    terminate() {
      this.frame.remove()
    }
  }
  window.Worker = window.IFrameWorker
}
