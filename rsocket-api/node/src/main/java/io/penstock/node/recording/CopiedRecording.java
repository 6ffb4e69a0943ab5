package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.play.PlayPoint;
import io.penstock.node.play.TurnTime;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.storage.recording.RecordingFile;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// A copy of a recording in one file, without the bytes of blocks.
///
/// @param events of the copy
/// @param of events of the recording
/// @param bytes of the file
record CopiedRecording(String file, long events, long of, long bytes) {
  /// Writes a copy.
  ///
  /// @param task name of the work, for its progress
  /// @param change of each event
  /// @param last place that is copied; null for all
  static CopiedRecording write(Path from, Path file, Console console, String task,
      UnaryOperator<RecordedEvent> change, @Nullable PlayPoint last) {
    long[] counts = new long[2];
    counts[1] = Recordings.count(from);
    try (Progressing progress = Progressing.of(console, task, counts[1])) {
      counts[0] = Recordings.read(from,
          reader -> RecordingFile.write(file, new Copying(reader, change, last, progress)));
    }
    return new CopiedRecording(file.toString(), counts[0], counts[1], Recordings.bytes(file));
  }

  /// The events of the copy.
  private static final class Copying implements Iterator<RecordedEvent> {
    private final Iterator<RecordedEvent> events;
    private final UnaryOperator<RecordedEvent> change;
    private final @Nullable PlayPoint last;
    private final Progressing progress;
    private final TurnTime time = new TurnTime();
    private final WithoutPayloads without = new WithoutPayloads();
    private final ArrayDeque<RecordedEvent> next = new ArrayDeque<>(1);
    private long number;
    private boolean over;

    Copying(Iterator<RecordedEvent> events, UnaryOperator<RecordedEvent> change, @Nullable PlayPoint last,
        Progressing progress) {
      this.events = events;
      this.change = change;
      this.last = last;
      this.progress = progress;
    }

    @Override
    public boolean hasNext() {
      while (next.isEmpty() && !over && events.hasNext()) {
        RecordedEvent event = events.next();
        long since = time.of(event);
        over = last != null && event.begins() && !last.isReached(number, since);
        number++;
        progress.at(number);
        if (!over && event.kind() != Kind.PAYLOAD) {
          next.add(change.apply(without.of(event)));
        }
      }
      return !next.isEmpty();
    }

    @Override
    public RecordedEvent next() {
      if (!hasNext()) {
        throw new NoSuchElementException("copy has no more events");
      }
      return next.remove();
    }
  }
}
