package io.penstock.recording;

import io.penstock.recording.RecordedEvent.Kind;

/// What an element of a named flow is. Its place here is the first number of its event, so new types go to the end.
public enum ElementType {
  /// Of no type below; text: the name of its class, or the words of the flow's own.
  OTHER,
  /// A slice; numbers: window, slices that follow in it, first granule, granules; keys: of its blocks.
  SLICE,
  /// A block; keys: its own.
  BLOCK,
  /// A block and its place in the request; numbers: place; keys: its own.
  LEASED_BLOCK,
  /// A receipt; numbers: durability, sequence; keys: its own; text: the tier.
  RECEIPT,
  /// A key.
  KEY,
  /// A list or a set; numbers: elements, their type or -1 if they differ; keys: of the elements that have one.
  LIST,
  /// A window of a lease; numbers: blocks.
  WINDOW,
  /// A lease; numbers: keys, hits, found, admitted, awaited.
  LEASE,
  /// A reservation; numbers: drafts, keys skipped, duplicates; keys: of its drafts.
  RESERVATION,
  /// A read lease; numbers: lease, life in nanoseconds, keys found, keys leased.
  READ_LEASE,
  /// Yes or no for each key; numbers: keys, yes.
  PRESENCE,
  /// A number, or a truth as 0 or 1; numbers: it.
  NUMBER,
  /// A constant of an enum; numbers: its place; text: its name.
  CONSTANT,
  /// Bytes in memory; numbers: how many.
  BYTES,
  /// An event of a tier; numbers: sequence; text: its name.
  TIER_EVENT;

  private static final ElementType[] TYPES = values();

  /// The type of the element that `event` is about.
  ///
  /// @param event of kind [Kind#FLOW_NEXT]
  public static ElementType of(RecordedEvent event) {
    long type = event.size() > 0 ? event.number(0) : 0;
    return type >= 0 && type < TYPES.length ? TYPES[(int) type] : OTHER;
  }
}
