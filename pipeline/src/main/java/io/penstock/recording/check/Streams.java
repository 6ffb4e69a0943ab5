package io.penstock.recording.check;

import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;

/// The streams of a recording: named flows, and those of tiers.
final class Streams {
  private Streams() {}

  /// Whether a stream begins with `event`.
  static boolean begins(RecordedEvent event) {
    return switch (event.kind()) {
      case FLOW, LEASE, READ, WINDOWS, SLICED_WINDOWS, SLICES, BLOCKS, RESERVE, COMMIT, REMOVE, HOLD, RELEASE, PIN,
          TAKE, SWEEP, STAT,
          SHUT, SESSION ->
        true;
      default -> false;
    };
  }

  /// Whether elements of the stream that begins with `event` come as its reader requests them. Other streams are
  /// answers, which are requested at once.
  static boolean hasDemand(RecordedEvent event) {
    return switch (event.kind()) {
      case FLOW, WINDOWS, SLICED_WINDOWS, SLICES, SWEEP -> true;
      default -> false;
    };
  }

  static boolean isElement(RecordedEvent event) {
    return switch (event.kind()) {
      case FLOW_NEXT, LEASED, WINDOW, SLICE, BLOCK_LIST, RESERVED, RECEIPTS, PRESENCE, OUTCOMES, READ_LEASE, ANSWER ->
        true;
      default -> false;
    };
  }

  static boolean isRequest(RecordedEvent event) {
    return event.kind() == Kind.FLOW_REQUEST || event.kind() == Kind.REQUEST;
  }

  static boolean isCancel(RecordedEvent event) {
    return event.kind() == Kind.FLOW_CANCEL || event.kind() == Kind.CANCEL;
  }

  /// Whether the source ended the stream.
  static boolean isEnd(RecordedEvent event) {
    return switch (event.kind()) {
      case FLOW_COMPLETE, FLOW_ERROR, ENDED, FAILED -> true;
      default -> false;
    };
  }

  /// Name of a stream in a message: *flow 7*.
  static String name(RecordedEvent event) {
    return "flow " + event.flow();
  }
}
