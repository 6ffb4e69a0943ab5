package io.penstock.storage.recording;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.recording.Payloads;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordingFormatException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The payloads of a recording, as far as it was read: their places in memory, their bytes on disk. One thread.
final class RecordedPayloads implements Payloads, AutoCloseable {
  private static final Payloads GENERATED = Payloads.ofKeys();

  private final Map<BlockKey, List<Kept>> places = new HashMap<>();
  private final Map<Path, FileChannel> files = new HashMap<>();

  /// Where bytes of a block lie.
  ///
  /// @param checksum of the block; 0 if a store had it
  /// @param first byte, counted in the block
  /// @param stored whether a store had them
  private record Kept(long checksum, boolean stored, long first, int bytes, Path file, long offset) {
    /// Whether they may be bytes of the block that has `checksum`.
    boolean isOf(long wanted) {
      return wanted == UNKNOWN || (!stored && checksum == wanted);
    }

    boolean has(long at) {
      return first <= at && at < first + bytes;
    }
  }

  void add(Page.Payload payload, Path file) {
    RecordedEvent event = payload.event();
    places.computeIfAbsent(event.keys().getFirst(), key -> new ArrayList<>(1)).add(new Kept(event.number(0),
        event.number(3) == 1, event.number(1), payload.bytes(), file, payload.offset()));
  }

  @Override
  public void fill(BlockDraft draft, GranuleRange range, long checksum) {
    for (GranuleRange part : draft.unverified(range)) {
      List<Kept> pieces = pieces(draft.key(), checksum, part.offset(draft.layout()), part.bytes(draft.layout()));
      if (pieces.isEmpty()) {
        GENERATED.fill(draft, part, checksum);
      } else {
        draft.write(part, memory -> read(pieces, part.offset(draft.layout()), memory));
        draft.produced(part);
      }
    }
  }

  /// The pieces that together have `bytes` from `from` on; none if some are missing.
  private List<Kept> pieces(BlockKey key, long checksum, long from, int bytes) {
    List<Kept> all = places.getOrDefault(key, List.of());
    List<Kept> pieces = new ArrayList<>(1);
    for (long at = from; at < from + bytes;) {
      Kept next = piece(all, checksum, at);
      if (next == null) {
        return List.of();
      }
      pieces.add(next);
      at = next.first() + next.bytes();
    }
    return pieces;
  }

  /// The newest bytes at `at`; rather what a store had if the block is known by its key alone.
  private static @Nullable Kept piece(List<Kept> all, long checksum, long at) {
    Kept found = null;
    for (Kept kept : all) {
      if (kept.isOf(checksum) && kept.has(at) && (found == null || kept.stored() || !found.stored())) {
        found = kept;
      }
    }
    return found;
  }

  private void read(List<Kept> pieces, long from, MemorySegment to) {
    long at = 0;
    for (Kept piece : pieces) {
      long skipped = from + at - piece.first();
      long bytes = Math.min(piece.bytes() - skipped, to.byteSize() - at);
      read(piece.file(), piece.offset() + skipped, to.asSlice(at, bytes).asByteBuffer());
      at += bytes;
    }
  }

  /// Fills `to` with the bytes of `file` from `from` on.
  void read(Path file, long from, ByteBuffer to) {
    try {
      FileChannel open = files.get(file);
      if (open == null) {
        open = FileChannel.open(file, StandardOpenOption.READ);
        files.put(file, open);
      }
      for (long at = from; to.hasRemaining();) {
        int read = open.read(to, at);
        if (read < 0) {
          throw new RecordingFormatException("payload in " + file, "whole", "cut short");
        }
        at += read;
      }
    } catch (IOException e) {
      throw new UncheckedIOException("payload in " + file + " cannot be read", e);
    }
  }

  @Override
  public void close() {
    IOException failure = null;
    for (FileChannel file : files.values()) {
      try {
        file.close();
      } catch (IOException e) {
        if (failure != null) {
          e.addSuppressed(failure);
        }
        failure = e;
      }
    }
    files.clear();
    if (failure != null) {
      throw new UncheckedIOException(failure);
    }
  }
}
