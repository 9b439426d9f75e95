export default function Papers() {
  return <h1>Papers</h1>
}
