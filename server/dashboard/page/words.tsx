/** A sentence in which what stands in backticks is to be typed. */
export function Words({ text }: { readonly text: string }) {
  return (
    <>
      {text
        .split('`')
        .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </>
  );
}
