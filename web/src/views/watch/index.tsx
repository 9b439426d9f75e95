export default function Watch() {
  return <h1>Watch</h1>
}
