package io.penstock.recording;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.check.Checksum;
import io.penstock.recording.Script.Payload;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/// Keeps the bytes of blocks in the recording: those of committed blocks, and those that a store had from an earlier
/// process. Outside turns, so that no other thread waits for the copy.
final class PayloadKeeper {
  private static final int KEYS = 1 << 16;
  private static final long MIX = 0x9E3779B97F4A7C15L;
  /// Stands for a whole block, whatever its bytes.
  private static final long COMMITTED = Long.MIN_VALUE;

  private final Script script;
  /// Keys whose bytes were kept, in places by their hash. A key that lost its place is kept again when it is read from
  /// a store.
  private final @Nullable AtomicLongArray kept;

  PayloadKeeper(Script script) {
    this.script = script;
    this.kept = script.keepsPayloads() ? new AtomicLongArray(KEYS) : null;
  }

  boolean keeps() {
    return kept != null;
  }

  /// CRC32C of checksums, 4 bytes each, little-endian.
  static long checksum(int[] granules) {
    ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES * granules.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asIntBuffer().put(granules);
    return Integer.toUnsignedLong(Checksum.of(bytes));
  }

  static long checksum(Block block) {
    int[] granules = new int[block.layout().granules()];
    for (int i = 0; i < granules.length; i++) {
      granules[i] = block.checksum(i);
    }
    return checksum(granules);
  }

  /// Keeps the complete blocks of `drafts`. The answer comes when their bytes have been copied.
  Mono<Void> committed(List<BlockDraft> drafts) {
    return Mono.create(sink -> {
      Queue<Part> parts = new ArrayDeque<>();
      for (BlockDraft draft : drafts) {
        LayerSpan span = draft.isComplete() ? span(draft, GranuleRange.all(draft.layout())) : null;
        if (span != null) {
          long checksum = checksum(draft.granuleChecksums());
          if (has(draft.key(), ~checksum)) {
            add(draft.key(), COMMITTED);
            span.close(); // equal bytes are in the recording
          } else {
            parts.add(new Part(new Payload(draft.key(), checksum, 0, false), span, ~checksum));
          }
        }
      }
      Copying copying = new Copying(parts, sink::success);
      sink.onCancel(copying::cancel);
      copying.run();
    });
  }

  /// Keeps what was read from a store and is not in the recording yet, then runs `done`.
  void read(List<BlockDraft> drafts, GranuleRange range, Runnable done) {
    Queue<Part> parts = new ArrayDeque<>();
    for (BlockDraft draft : drafts) {
      long offset = range.offset(draft.layout());
      long what = offset << Integer.SIZE | range.bytes(draft.layout());
      boolean known = has(draft.key(), COMMITTED) || has(draft.key(), what);
      LayerSpan span = known ? null : span(draft, range);
      if (span != null) {
        parts.add(new Part(new Payload(draft.key(), 0, offset, true), span, what));
      }
    }
    new Copying(parts, done).run();
  }

  /// A share of `range`; null if the draft was closed meanwhile.
  private static @Nullable LayerSpan span(BlockDraft draft, GranuleRange range) {
    try {
      return draft.span(range);
    } catch (IllegalStateException e) {
      return null;
    }
  }

  /// A word for bytes of a block.
  ///
  /// @param what offset and length, or the complement of a checksum
  private static long word(BlockKey key, long what) {
    BlockHash hash = key.hash();
    long word = mixed(mixed(mixed(key.space().hashCode()) ^ hash.high()) ^ hash.low()) ^ what;
    return Math.max(1, mixed(word) & Long.MAX_VALUE); // 0 stands for none
  }

  private static long mixed(long value) {
    long product = value * MIX;
    return (product ^ (product >>> 32)) * MIX;
  }

  private static int place(long word) {
    return (int) (word & (KEYS - 1));
  }

  private boolean has(BlockKey key, long what) {
    long word = word(key, what);
    return kept != null && kept.get(place(word)) == word;
  }

  private void add(BlockKey key, long what) {
    long word = word(key, what);
    if (kept != null) {
      kept.set(place(word), word);
    }
  }

  /// @param what they are, once they are in the recording
  private record Part(Payload payload, LayerSpan bytes, long what) {}

  /// Copies parts, one after the other, and goes on later while there is no room.
  private final class Copying implements Runnable {
    private final Queue<Part> parts;
    private final Runnable done;
    private long copied;
    private volatile boolean cancelled;
    private volatile @Nullable Disposable waiting;

    Copying(Queue<Part> parts, Runnable done) {
      this.parts = parts;
      this.done = done;
    }

    /// Gives up what was not copied: now if it waits for room, else when the copy under way has ended.
    void cancel() {
      cancelled = true;
      Disposable wait = waiting;
      if (wait != null) {
        wait.dispose();
        copyAll();
      }
    }

    @Override
    public void run() {
      if (copyAll()) {
        done.run();
      } else {
        waiting = script.whenRoom(this);
        if (cancelled) {
          copyAll();
        }
      }
    }

    /// False if there is no room for the rest.
    private synchronized boolean copyAll() {
      for (Part part = parts.peek(); part != null; part = parts.peek()) {
        if (!cancelled && !copy(part)) {
          return false;
        }
        part.bytes().close();
        parts.remove();
        if (!cancelled) {
          add(part.payload().key(), part.what());
          if (!part.payload().stored()) {
            add(part.payload().key(), COMMITTED);
          }
        }
        copied = 0;
      }
      return true;
    }

    private boolean copy(Part part) {
      Payload payload = part.payload();
      while (copied < part.bytes().bytes()) {
        long taken = script.keep(new Payload(payload.key(), payload.checksum(), payload.first() + copied,
            payload.stored()), part.bytes().memory().asSlice(copied));
        if (taken == 0) {
          return false;
        }
        copied += taken;
      }
      return true;
    }
  }
}
