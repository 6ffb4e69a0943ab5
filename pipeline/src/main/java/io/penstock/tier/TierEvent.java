package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.session.SessionId;
import java.util.List;

/// A change of a block of a tier, or of a level of the tier. Changes are numbered without holes from 1.
///
/// Each event states facts that are true from its sequence number on, so a consumer that keeps the levels of each key
/// needs no memory of its own past ([KnownBlocks] is such a consumer):
///
/// | Event | the consumer |
/// |---|---|
/// | [Stored], [Present] | has the key on `levels` |
/// | [Moved] | has the key on `to` |
/// | [Evicted], [Removed], [Lost] | forgets the key |
/// | [LevelDown], [LevelUp] | ignores that level, or counts it again, for all keys |
/// | [SnapshotStarted] | forgets everything |
/// | [SessionEnded] | may forget what it knows of the session |
/// | [Skipped] | does not know any more, and asks for a snapshot ([BlockTier#follow]) |
///
/// A block is visible while it is on a level that is not down.
public sealed interface TierEvent {
  /// Position in the tier's history. The events of a snapshot, and ends of sessions, have the number of the change
  /// before them.
  long sequence();

  /// A level of a tier, such as `dram`, which is host memory.
  record Level(String name, Medium medium) {
    public Level {
      requireNonNull(name, "name");
      requireNonNull(medium, "medium");
    }
  }

  /// The block became visible, and its bytes are on `levels`, fastest first.
  record Stored(long sequence, BlockKey key, List<Level> levels) implements TierEvent {
    public Stored {
      levels = List.copyOf(levels);
    }
  }

  /// Copies of a visible block were added or dropped: it was promoted, demoted, or copied, or a copy was dropped.
  ///
  /// @param from the levels before
  /// @param to the levels from now on, at least one
  record Moved(long sequence, BlockKey key, List<Level> from, List<Level> to) implements TierEvent {
    public Moved {
      from = List.copyOf(from);
      to = List.copyOf(to);
    }
  }

  /// The policy chose the block as victim.
  ///
  /// @param levels on which the block was, as for the events below
  record Evicted(long sequence, BlockKey key, List<Level> levels) implements TierEvent {
    public Evicted {
      levels = List.copyOf(levels);
    }
  }

  /// A caller removed the block.
  record Removed(long sequence, BlockKey key, List<Level> levels) implements TierEvent {
    public Removed {
      levels = List.copyOf(levels);
    }
  }

  /// The tier lost the block, for example quarantined it after a checksum mismatch.
  record Lost(long sequence, BlockKey key, List<Level> levels, String reason) implements TierEvent {
    public Lost {
      levels = List.copyOf(levels);
      requireNonNull(reason, "reason");
    }
  }

  /// The level gives no blocks from now on. Blocks that are on such levels alone are misses, and come back with the
  /// level.
  record LevelDown(long sequence, Level level, String reason) implements TierEvent {}

  /// The level gives blocks again.
  record LevelUp(long sequence, Level level) implements TierEvent {}

  /// A client ended a session. That changes no block, so the event takes no number: it has that of the change before
  /// it. A reader that begins at that number may get it twice, and one that falls far behind may miss it.
  record SessionEnded(long sequence, SessionId session) implements TierEvent {
    public SessionEnded {
      requireNonNull(session, "session");
    }
  }

  /// The log no longer has the events up to `sequence`: the reader was too slow, or asked for an older past.
  record Skipped(long sequence, long count) implements TierEvent {}

  /// A snapshot begins. Its [Present] events come in steps, with changes between them, each true as of its number.
  ///
  /// @param down levels that give no blocks now
  record SnapshotStarted(long sequence, List<Level> down) implements TierEvent {
    public SnapshotStarted {
      down = List.copyOf(down);
    }
  }

  /// The snapshot has a block of this key. It may name a key twice.
  record Present(long sequence, BlockKey key, List<Level> levels) implements TierEvent {
    public Present {
      levels = List.copyOf(levels);
    }
  }

  /// The snapshot is whole: the consumer knows all blocks that were there at `sequence`.
  record SnapshotEnded(long sequence) implements TierEvent {}
}
