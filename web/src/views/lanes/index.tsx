export default function Lanes() {
  return <h1>Lanes</h1>
}
