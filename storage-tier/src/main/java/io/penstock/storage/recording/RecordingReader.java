package io.penstock.storage.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.recording.Payloads;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordingFormatException;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.engine.file.JournalFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/// Reads a recording: a folder from its first event to the last whole page, also while it is written, or one file
/// ([RecordingFile]). Pages of a folder that are damaged or lost are gaps. One thread.
public final class RecordingReader implements Iterator<RecordedEvent>, AutoCloseable {
  private final Iterator<JournalFiles.Stored> files;
  private final RecordingFile.@Nullable Pages pages;
  private final ArrayDeque<RecordedEvent> events = new ArrayDeque<>();
  private final RecordedPayloads payloads = new RecordedPayloads();
  /// Payloads whose events are among [#events].
  private final ArrayDeque<Kept> kept = new ArrayDeque<>();
  private @Nullable Kept last;
  private @Nullable SegmentWindow file;
  private Page.@Nullable Finder finder;
  private @Nullable Path path;
  private long at;
  private long next;

  /// A payload in a file.
  private record Kept(Page.Payload payload, Path file) {}

  private RecordingReader(List<JournalFiles.Stored> files, RecordingFile.@Nullable Pages pages) {
    this.files = files.iterator();
    this.pages = pages;
  }

  /// Whether a folder or a file is a recording, by its content.
  public static boolean isRecording(Path recording) {
    Path mark = recording.resolve(RecordingWriter.MARK);
    return Files.isDirectory(recording) ? Files.isRegularFile(mark) : RecordingFile.isRecording(recording);
  }

  /// @param folder that is a recording, or its file
  /// @throws RecordingFormatException if it is no recording, or one of another version
  public static RecordingReader open(Path folder) {
    if (Files.isRegularFile(folder)) {
      return new RecordingReader(List.of(), RecordingFile.open(folder));
    }
    String format;
    try {
      format = Files.readString(folder.resolve(RecordingWriter.MARK));
    } catch (IOException e) {
      throw new RecordingFormatException("folder " + folder, "a recording, with its file `recording`", e.toString());
    }
    requireFormat("file `recording`", format);
    return new RecordingReader(JournalFiles.written(folder), null);
  }

  /// @param what has the line, for the message
  static void requireFormat(String what, String line) {
    if (!line.strip().equals(RecordingWriter.FORMAT.strip())) {
      throw new RecordingFormatException(what, "\"" + RecordingWriter.FORMAT.strip() + "\"",
          "\"" + line.substring(0, Math.min(80, line.length())).strip() + "\"");
    }
  }

  @Override
  public boolean hasNext() {
    while (events.isEmpty()) {
      if (pages != null) {
        Page page = pages.next();
        if (page == null) {
          return false;
        }
        take(page);
        continue;
      }
      SegmentWindow reading = file;
      if (reading == null) {
        if (!files.hasNext()) {
          return false;
        }
        JournalFiles.Stored stored = files.next();
        reading = JournalFiles.chronicleWindow(stored);
        path = stored.path();
        file = reading;
        finder = new Page.Finder(reading);
        at = reading.start();
      }
      Page page = requireNonNull(finder, "finder").next(at);
      if (page == null) {
        reading.close();
        file = null;
      } else {
        take(page);
      }
    }
    return true;
  }

  private void take(Page page) {
    at = page.end();
    if (page.first() < next) {
      throw new RecordingFormatException("first event of a page", ">= " + next, page.first());
    } else if (page.first() > next) {
      events.add(RecordedEvent.gap(page.first() - next));
    }
    events.addAll(page.events());
    Path from = path;
    if (from != null) {
      for (Page.Payload payload : page.payloads()) {
        payloads.add(payload, from);
        kept.add(new Kept(payload, from));
      }
    }
    next = page.first() + page.events().size();
  }

  /// The bytes of blocks that were kept with the events read so far; those of other blocks are made from their keys.
  /// Closed with this reader.
  public Payloads payloads() {
    return payloads;
  }

  @Override
  public RecordedEvent next() {
    if (!hasNext()) {
      throw new NoSuchElementException("recording has no more events");
    }
    RecordedEvent event = events.remove();
    last = event.kind() == RecordedEvent.Kind.PAYLOAD ? kept.poll() : null;
    return event;
  }

  /// The bytes that follow the event of a payload, which [#next] has just returned.
  ///
  /// @throws IllegalStateException if that event is none of a payload
  public ByteBuffer payloadBytes() {
    Kept payload = last;
    if (payload == null) {
      throw new IllegalStateException("event must be a payload of a folder (was another)");
    }
    ByteBuffer bytes = ByteBuffer.allocateDirect(payload.payload().bytes());
    payloads.read(payload.file(), payload.payload().offset(), bytes);
    return bytes.flip();
  }

  @Override
  public void close() {
    SegmentWindow open = file;
    file = null;
    try (payloads; pages; open) {
      events.clear();
    }
  }
}
