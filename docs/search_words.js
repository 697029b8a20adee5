// The search looks for every word with any ending, so "do" finds Docker and "GPUs" misses GPU. Words that all questions
// have are left out of a query, and so are question marks and the s of a plural.
const COMMON = new Set(
  ("a about an and any are as at be by can could do does for from get had has have how i if in into is it its let me much my " +
    "need of on or other our own should so some something that the their them there these they this to us use using want was we " +
    "were what when where which who why will with would write you your").split(" "),
);
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...rest) {
  if (typeof message?.data === "string" && message.type === 2) {
    const words = message.data.split(/\s+|\b-\b/).map((word) => word.replace(/[?!.,;]+$/, ""));
    const kept = words.filter((word) => word && !COMMON.has(word.toLowerCase()));
    const data = (kept.length ? kept : words).map((word) => word.replace(/([^s]{3})s$/, "$1")).join(" ");
    message = { ...message, data };
  }
  return post.call(this, message, ...rest);
};
