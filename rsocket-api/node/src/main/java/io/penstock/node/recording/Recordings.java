package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.DataException;
import io.penstock.node.cli.Progress;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.RecordingFormatException;
import io.penstock.storage.recording.RecordingReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/// Reads recordings for commands, and says what is wrong with a place that is none.
final class Recordings {
  /// A recording with more bytes gets a progress.
  private static final long LONG_BYTES = 4L << 20;
  private static final int PROGRESS_EVENTS = 1 << 12;

  private Recordings() {}

  /// Takes each event of a recording.
  interface Visitor {
    /// @param number of the event, from 0
    void visit(long number, RecordedEvent event);
  }

  /// Opens the recording at `place` for `work`.
  ///
  /// @throws DataException if it is none, or damaged
  static <T> T read(Path place, Function<RecordingReader, T> work) {
    require(place);
    try (RecordingReader reader = RecordingReader.open(place)) {
      return work.apply(reader);
    } catch (RecordingFormatException e) {
      throw new DataException("recording %s cannot be read: %s".formatted(place, e.getMessage()), e);
    }
  }

  private static void require(Path place) {
    if (!Files.exists(place)) {
      throw new UncheckedIOException(new NoSuchFileException(place.toString()));
    }
    if (!RecordingReader.isRecording(place)) {
      throw new DataException("%s must be a recording, as --record makes it (is none)".formatted(place));
    }
  }

  /// Reads all events, with a progress if that takes long.
  ///
  /// @param task name of the work, for the progress
  static void forEach(Path place, Console console, String task, Visitor visitor) {
    require(place);
    if (bytes(place) < LONG_BYTES) {
      read(place, reader -> visit(reader, visitor));
      return;
    }
    long all = count(place);
    try (Progress progress = Progress.of(console, task, "events")) {
      read(place, reader -> visit(reader, (number, event) -> {
        visitor.visit(number, event);
        if (number % PROGRESS_EVENTS == 0) {
          progress.at(number, all);
        }
      }));
    }
  }

  private static boolean visit(RecordingReader reader, Visitor visitor) {
    for (long number = 0; reader.hasNext(); number++) {
      visitor.visit(number, reader.next());
    }
    return true;
  }

  /// Number of events.
  static long count(Path place) {
    return read(place, reader -> {
      long events = 0;
      for (; reader.hasNext(); events++) {
        reader.next();
      }
      return events;
    });
  }

  /// Checks that the recording at `place` has its beginning.
  ///
  /// @throws DataException if it has no events, or the first ones are missing
  static void requireBeginning(Path place) {
    read(place, reader -> {
      if (!reader.hasNext()) {
        throw new DataException("recording %s must have events (has none)".formatted(place));
      }
      RecordedEvent first = reader.next();
      if (first.kind() == Kind.GAP) {
        throw new DataException("recording %s must have its beginning (the first %,d events are missing)"
            .formatted(place, first.number(0)));
      }
      return true;
    });
  }

  /// Its files; one for a recording in one file.
  static List<Path> files(Path place) {
    try (Stream<Path> all = Files.walk(place)) {
      return all.filter(Files::isRegularFile).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Bytes that its files take on the disk.
  static long bytes(Path place) {
    long bytes = 0;
    for (Path file : files(place)) {
      try {
        bytes += Files.size(file);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return bytes;
  }

  /// All events of the recording at `place`, for small ones.
  static List<RecordedEvent> all(Path place) {
    return read(place, reader -> {
      List<RecordedEvent> events = new ArrayList<>();
      reader.forEachRemaining(events::add);
      return events;
    });
  }

  /// The file that a command makes: it must not be there.
  static void requireNew(Path out) {
    if (Files.exists(out)) {
      throw new IllegalArgumentException("OUT must not be there yet (is there: " + out + ")");
    }
  }
}
