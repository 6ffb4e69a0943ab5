package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.play.PlayPoint;
import io.penstock.node.play.TurnTime;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.Script.Payload;
import io.penstock.storage.recording.RecordingFile;
import io.penstock.storage.recording.RecordingReader;
import io.penstock.storage.recording.RecordingWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// A copy of a recording: in one file, without the bytes of blocks, or in a folder, with them.
///
/// @param events of the copy
/// @param of events of the recording
/// @param bytes of the file, or of the files of the folder
/// @param payloads bytes of blocks in the copy
/// @param leftOut bytes of blocks that the recording has, and the copy has not
record CopiedRecording(String file, long events, long of, long bytes, long payloads, long leftOut) {
  /// Writes a copy.
  ///
  /// @param task name of the work, for its progress
  /// @param change of each event
  /// @param last place that is copied; null for all
  static CopiedRecording write(Path from, Path file, Console console, String task,
      UnaryOperator<RecordedEvent> change, @Nullable PlayPoint last) {
    long[] counts = new long[2];
    counts[1] = Recordings.count(from);
    long[] leftOut = new long[1];
    try (Progressing progress = Progressing.of(console, task, counts[1])) {
      counts[0] = Recordings.read(from,
          reader -> RecordingFile.write(file, new Copying(reader, change, last, progress, leftOut)));
    }
    return new CopiedRecording(file.toString(), counts[0], counts[1], Recordings.bytes(file), 0, leftOut[0]);
  }

  /// Writes a copy with the bytes of blocks into a folder.
  ///
  /// @param folder made if it is not there
  /// @param last place that is copied
  static CopiedRecording writeWhole(Path from, Path folder, Console console, String task, PlayPoint last) {
    long all = Recordings.count(from);
    RecordingWriter.Options options = RecordingWriter.Options.defaults().withPayloads(true)
        .withWhenFull(RecordingWriter.WhenFull.WAIT);
    long events = 0;
    long payloads = 0;
    RecordingWriter writer =
        RecordingWriter.open(folder, options.withMostBytes(Math.max(options.mostBytes(), 2 * Recordings.bytes(from))));
    try (writer; Progressing progress = Progressing.of(console, task, all)) {
      long[] copied = Recordings.read(from, reader -> copy(reader, writer, last, progress));
      events = copied[0];
      payloads = copied[1];
    }
    if (writer.missed() > 0) {
      throw new UncheckedIOException(new IOException("%,d events could not be written to %s".formatted(
          writer.missed(), folder)));
    }
    return new CopiedRecording(folder.toString(), events, all, Recordings.bytes(folder), payloads, 0);
  }

  /// @return number of events, and bytes of payloads
  private static long[] copy(RecordingReader reader, RecordingWriter writer, PlayPoint last, Progressing progress) {
    TurnTime time = new TurnTime();
    long[] copied = new long[2];
    while (reader.hasNext()) {
      RecordedEvent event = reader.next();
      if (event.begins() && !last.isReached(copied[0], time.of(event))) {
        break;
      }
      if (event.kind() == Kind.PAYLOAD) {
        MemorySegment bytes = MemorySegment.ofBuffer(reader.payloadBytes());
        keep(writer, event, bytes);
        copied[1] += bytes.byteSize();
      } else {
        awaitRoom(writer);
        writer.add(event);
      }
      progress.at(++copied[0]);
    }
    return copied;
  }

  private static void keep(RecordingWriter writer, RecordedEvent event, MemorySegment bytes) {
    for (long kept = 0; kept < bytes.byteSize();) {
      awaitRoom(writer);
      kept += writer.keep(
          new Payload(event.keys().getFirst(), event.number(0), event.number(1) + kept, event.number(3) == 1),
          bytes.asSlice(kept));
    }
  }

  private static void awaitRoom(RecordingWriter writer) {
    if (writer.isFull()) {
      CountDownLatch room = new CountDownLatch(1);
      writer.whenRoom(room::countDown);
      try {
        room.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("copy was interrupted", e);
      }
    }
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
    private final long[] leftOut;
    private long number;
    private boolean over;

    Copying(Iterator<RecordedEvent> events, UnaryOperator<RecordedEvent> change, @Nullable PlayPoint last,
        Progressing progress, long[] leftOut) {
      this.leftOut = leftOut;
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
        if (!over && event.kind() == Kind.PAYLOAD) {
          leftOut[0] += event.number(2);
        } else if (!over) {
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
