export default function Compare() {
  return <h1>Compare</h1>
}
