package io.penstock.storage.recording;

import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordingFormatException;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.engine.file.JournalFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/// Reads a recording from the first event that its folder has to the last whole page, also while it is written. Pages
/// that are damaged or lost are gaps. One thread.
public final class RecordingReader implements Iterator<RecordedEvent>, AutoCloseable {
  private final Iterator<JournalFiles.Stored> files;
  private final ArrayDeque<RecordedEvent> events = new ArrayDeque<>();
  private @Nullable SegmentWindow file;
  private long at;
  private long next;

  private RecordingReader(List<JournalFiles.Stored> files) {
    this.files = files.iterator();
  }

  /// Whether `folder` is a recording, by its content.
  public static boolean isRecording(Path folder) {
    Path mark = folder.resolve(RecordingWriter.MARK);
    return Files.isDirectory(folder) && Files.isRegularFile(mark);
  }

  /// @throws RecordingFormatException if the folder is no recording, or one of another version
  public static RecordingReader open(Path folder) {
    String format;
    try {
      format = Files.readString(folder.resolve(RecordingWriter.MARK));
    } catch (IOException e) {
      throw new RecordingFormatException("folder " + folder, "a recording, with its file `recording`", e.toString());
    }
    if (!format.equals(RecordingWriter.FORMAT)) {
      throw new RecordingFormatException("file `recording`", "\"" + RecordingWriter.FORMAT.strip() + "\"",
          "\"" + format.substring(0, Math.min(80, format.length())).strip() + "\"");
    }
    return new RecordingReader(JournalFiles.written(folder));
  }

  @Override
  public boolean hasNext() {
    while (events.isEmpty()) {
      SegmentWindow reading = file;
      if (reading == null) {
        if (!files.hasNext()) {
          return false;
        }
        reading = JournalFiles.chronicleWindow(files.next());
        file = reading;
        at = reading.start();
      }
      Page page = Page.find(reading, at);
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
    if (page.first() != next) {
      events.add(RecordedEvent.gap(page.first() - next));
    }
    events.addAll(page.events());
    next = page.first() + page.events().size();
  }

  @Override
  public RecordedEvent next() {
    if (!hasNext()) {
      throw new NoSuchElementException("recording has no more events");
    }
    return events.remove();
  }

  @Override
  public void close() {
    SegmentWindow open = file;
    if (open != null) {
      open.close();
      file = null;
    }
  }
}
