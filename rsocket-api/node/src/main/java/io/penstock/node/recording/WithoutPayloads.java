package io.penstock.node.recording;

import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.Arrays;
import java.util.stream.IntStream;

/// Removes the checksums of bytes from the events of a recording whose payloads are left out: bytes made from keys have
/// others. Reads the events in order.
final class WithoutPayloads {
  private static final int SLICE_NUMBERS = 6;

  private boolean tellsChecksums;

  /// `event` as a recording without payloads has it.
  RecordedEvent of(RecordedEvent event) {
    if (event.kind() == Kind.OPENED) {
      tellsChecksums |= event.size() > 0 && event.number(0) == 1;
      return tellsChecksums ? with(event, 0) : event;
    }
    if (!tellsChecksums) {
      return event;
    }
    return switch (event.kind()) {
      case COMMIT -> with(event, 1 + (event.size() - 1) / 2);
      case SLICE -> with(event, SLICE_NUMBERS);
      case BLOCK_LIST -> with(event, event.size() / 2);
      default -> event;
    };
  }

  private static RecordedEvent with(RecordedEvent event, int size) {
    return with(event, Arrays.copyOf(numbers(event), size));
  }

  static long[] numbers(RecordedEvent event) {
    return IntStream.range(0, event.size()).mapToLong(event::number).toArray();
  }

  /// `event` with other numbers.
  static RecordedEvent with(RecordedEvent event, long[] numbers) {
    return new RecordedEvent(event.kind(), event.begins(), event.at(), event.tier(), event.flow(), numbers,
        event.keys(), event.text());
  }
}
