package io.penstock.gateway.events;

import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Follows the batches of one publisher by their numbers, and keeps its blocks right: a gap is replayed, and if it
/// cannot be, all blocks of the publisher are forgotten.
///
/// A publisher that restarts counts from 0 again. So each replay begins with the last batch that is known. If the
/// publisher answers with another batch, or with none, it has restarted.
///
/// While a replay runs no live messages are taken ([#takesLive]): they wait in the socket.
///
/// - Threads: one.
final class PublisherFeed {
  private static final Logger LOG = LoggerFactory.getLogger(PublisherFeed.class);
  private static final long UNKNOWN = -1;

  private final String name;
  private final PublisherBlocks blocks;
  private final EventCounts counts;
  private final @Nullable Replay replay;
  private final LongSupplier nanos;
  private final long replayNanos;
  private final long idleNanos;

  private Mode mode = Mode.LIVE;
  private boolean isNeeded;
  private boolean hasReconnected;
  /// Whether a replay was not answered, so that blocks may be missing.
  private boolean isIncomplete;
  private long incompleteNanos;
  private boolean warned;
  /// Number of the batch that comes next; [#UNKNOWN] before the first.
  private long next = UNKNOWN;
  private long lastDigest;
  private long lastLive = UNKNOWN;
  private long askedNanos;
  private long heardNanos;
  /// A live message whose predecessors are being replayed.
  private @Nullable Held held;

  @SuppressWarnings("ArrayRecordComponent") // passed on as it came
  private record Held(long number, byte[] payload) {}

  private enum Mode {
    /// Live messages are taken.
    LIVE,
    /// The first answer must be the last batch that is known.
    CHECK,
    /// The batches after it come.
    FOLLOW,
    /// All batches come, nothing of the publisher is known.
    FILL,
    /// The rest of an answer is passed over; a replay of all batches follows.
    DRAIN,
    /// All batches come, in the place of what is known.
    REFILL
  }

  /// Asks a publisher to send batches again.
  interface Replay {
    /// Asks for the batches from a number on.
    void ask(long from);

    /// Forgets the question, so that no late answer comes.
    void reset();
  }

  /// @param name of the publisher, for messages
  /// @param replay null if the publisher replays nothing
  /// @param patience for a replay
  /// @param idle time without a message after which the publisher is asked whether there is anything
  PublisherFeed(String name, PublisherBlocks blocks, EventCounts counts, @Nullable Replay replay, LongSupplier nanos,
      Duration patience, Duration idle) {
    this.name = name;
    this.blocks = blocks;
    this.counts = counts;
    this.replay = replay;
    this.nanos = nanos;
    this.replayNanos = patience.toNanos();
    this.idleNanos = idle.toNanos();
    this.heardNanos = nanos.getAsLong();
  }

  /// Whether live messages may be given now.
  boolean takesLive() {
    return mode == Mode.LIVE;
  }

  /// The connection to the publisher is there, for the first time or again: it may be another publisher now.
  void connected() {
    heardNanos = nanos.getAsLong();
    if (replay == null) {
      if (next != UNKNOWN) {
        reset();
        next = UNKNOWN;
      }
    } else if (mode == Mode.LIVE) {
      ask(true);
    } else {
      hasReconnected = true; // the answer may be of the publisher before
    }
  }

  /// A live message.
  void live(long number, byte[] payload) {
    heardNanos = nanos.getAsLong();
    boolean isAnother = lastLive != UNKNOWN && number <= lastLive;
    lastLive = number;
    if (isAnother) {
      forgetPublisher();
      lastLive = number;
      if (replay != null) {
        ask(true);
      } else {
        apply(number, payload);
      }
    } else if (next == UNKNOWN || number == next) {
      apply(number, payload);
    } else if (number > next) {
      counts.increment(EventCount.GAPS);
      if (replay != null) {
        held = new Held(number, payload);
        ask(true);
      } else {
        reset();
        apply(number, payload);
      }
    }
  }

  /// A batch of a replay.
  void replayed(long number, byte[] payload) {
    heardNanos = nanos.getAsLong();
    askedNanos = heardNanos;
    switch (mode) {
      case LIVE, DRAIN -> {
      }
      case REFILL -> {
        forgetPublisher();
        mode = Mode.FILL;
        again(number, payload);
      }
      case CHECK -> {
        if (number > next - 1) {
          reset(); // batches between are no longer kept
          mode = Mode.FOLLOW;
          again(number, payload);
        } else if (number == next - 1 && digest(payload) == lastDigest) {
          mode = Mode.FOLLOW;
        } else {
          forgetPublisher();
          mode = Mode.DRAIN;
        }
      }
      case FOLLOW, FILL -> {
        if (next != UNKNOWN && number > next) {
          reset();
        }
        if (number >= next) {
          again(number, payload);
        }
      }
    }
  }

  private void again(long number, byte[] payload) {
    counts.increment(EventCount.REPLAYED);
    apply(number, payload);
  }

  /// The replay has ended.
  void replayEnded() {
    heardNanos = nanos.getAsLong();
    switch (mode) {
      case LIVE -> {
      }
      case CHECK, REFILL -> {
        forgetPublisher();
        fill();
      }
      case DRAIN -> fill();
      case FOLLOW, FILL -> {
        isIncomplete &= mode == Mode.FOLLOW;
        next = Math.max(0, next); // a publisher that has nothing begins with 0
        mode = Mode.LIVE;
        takeHeld();
        if (hasReconnected) {
          hasReconnected = false;
          ask(true);
        }
      }
    }
  }

  /// Time passes.
  void tick() {
    long now = nanos.getAsLong();
    if (mode != Mode.LIVE && now - askedNanos >= replayNanos) {
      counts.increment(EventCount.UNANSWERED);
      if (replay != null) {
        replay.reset();
      }
      heardNanos = now;
      if (mode != Mode.REFILL && (isNeeded || hasReconnected || mode != Mode.CHECK)) {
        reset();
        next = UNKNOWN;
        isIncomplete = true;
      }
      incompleteNanos = now;
      mode = Mode.LIVE;
      hasReconnected = false;
      takeHeld();
    } else if (mode == Mode.LIVE && replay != null && isIncomplete && now - incompleteNanos >= idleNanos) {
      ask(Mode.REFILL, false);
    } else if (mode == Mode.LIVE && replay != null && now - heardNanos >= idleNanos) {
      heardNanos = now;
      ask(false);
    }
  }

  /// A message that is none.
  void bad(String why) {
    counts.increment(EventCount.BAD);
    if (!warned) {
      warned = true;
      LOG.warn("KV events of {}: {}. Further bad messages are counted only.", name, why);
    }
  }

  /// Forgets all blocks: the publisher is followed no longer.
  void close() {
    blocks.clear();
  }

  /// @param needed whether the blocks cannot be kept without an answer
  private void ask(boolean needed) {
    ask(next > 0 ? Mode.CHECK : Mode.FILL, needed);
  }

  private void ask(Mode asking, boolean needed) {
    if (replay != null) {
      isNeeded = needed;
      mode = asking;
      askedNanos = nanos.getAsLong();
      replay.ask(asking == Mode.CHECK ? next - 1 : 0);
    }
  }

  private void fill() {
    next = UNKNOWN;
    ask(true);
  }

  private void takeHeld() {
    Held late = held;
    held = null;
    if (late != null && (next == UNKNOWN || late.number() >= next)) {
      if (next != UNKNOWN && late.number() > next) {
        reset();
      }
      apply(late.number(), late.payload());
    }
  }

  private void forgetPublisher() {
    reset();
    next = UNKNOWN;
    lastLive = UNKNOWN;
    held = null;
  }

  private void reset() {
    counts.increment(EventCount.RESETS);
    blocks.clear();
  }

  private void apply(long number, byte[] payload) {
    next = number + 1;
    lastDigest = digest(payload);
    try {
      blocks.apply(EventDecoder.decode(payload));
      counts.increment(EventCount.BATCHES);
    } catch (BadEventException e) {
      bad(String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      bad("a batch could not be applied: " + e);
      reset();
    }
  }

  private static long digest(byte[] payload) {
    CRC32C checksum = new CRC32C();
    checksum.update(payload);
    return (long) payload.length << 32 | checksum.getValue();
  }
}
