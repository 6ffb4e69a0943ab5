package io.penstock.lab.simulate;

/// Invariants of every run, for all faults.
enum Invariant {
  BYTES_IN_FLIGHT("bytes in flight must be <= the byte budget of the party they travel to"),
  QUEUES_BOUNDED("slices that wait for a link must fit the send window"),
  NOTHING_WRONG_DELIVERED("delivered bytes must be those of their key, layer and position"),
  SLICE_ORDER("the slices of a block must come in order, each once"),
  NO_HALF_BLOCK("a visible block must be whole"),
  NOTHING_LEAKED("memory, permits, tickets and frames must come back"),
  EVERY_STREAM_ENDS("every request must end with a value, empty or a typed error"),
  RECEIPTS_TRUE("a receipt must name the event by which its block became visible"),
  EVENTS_WHOLE("events must be numbered without holes and fold to exactly the visible blocks"),
  MODEL_AGREES("hits, admissions and victims must equal the naive model"),
  PLAIN_LRU("hits of one undisturbed client must equal plain LRU"),
  UNDISTURBED_DELIVERS("without faults every request must be delivered at its first pass");

  private final String sentence;

  Invariant(String sentence) {
    this.sentence = sentence;
  }

  String sentence() {
    return sentence;
  }
}
