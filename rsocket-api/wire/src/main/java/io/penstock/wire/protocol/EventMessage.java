package io.penstock.wire.protocol;

import static io.penstock.wire.protocol.Fields.copied;
import static io.penstock.wire.protocol.Fields.exactly;
import static io.penstock.wire.protocol.Fields.oneOf;
import static io.penstock.wire.protocol.Fields.present;

import io.penstock.block.BlockKey;
import io.penstock.block.session.SessionId;
import io.penstock.tier.Medium;
import io.penstock.tier.TierEvent;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A [TierEvent] on the wire; `PROTOCOL.md` says which fields each type has.
@OmitsNulls
public record EventMessage(long sequence, String type, byte @Nullable [] key, @Nullable String reason,
    @Nullable Long count,
    @Nullable List<LevelName> levels, @Nullable List<LevelName> from, byte @Nullable [] session) {
  private static final String TYPES =
      "stored, moved, evicted, removed, lost, levelDown, levelUp, skipped, snapshot, present, snapshotEnd or "
          + "sessionEnded";

  public EventMessage {
    present("event.type", type);
  }

  private EventMessage(long sequence, String type) {
    this(sequence, type, null, null, null, null, null);
  }

  public EventMessage(long sequence, String type, byte @Nullable [] key, @Nullable String reason, @Nullable Long count,
      @Nullable List<LevelName> levels, @Nullable List<LevelName> from) {
    this(sequence, type, key, reason, count, levels, from, null);
  }

  /// A level of the node's tier.
  public record LevelName(String name, String medium) {
    public LevelName {
      present("level.name", name);
      present("level.medium", medium);
    }

    private static List<LevelName> of(List<TierEvent.Level> levels) {
      return levels.stream().map(level -> new LevelName(level.name(), level.medium().name())).toList();
    }

    private TierEvent.Level level() {
      return new TierEvent.Level(name, oneOf(Medium.class, "level.medium", medium));
    }
  }

  public static EventMessage of(TierEvent event) {
    return switch (event) {
      case TierEvent.Stored e -> of(e, "stored", e.key(), e.levels());
      case TierEvent.Present e -> of(e, "present", e.key(), e.levels());
      case TierEvent.Evicted e -> of(e, "evicted", e.key(), e.levels());
      case TierEvent.Removed e -> of(e, "removed", e.key(), e.levels());
      case TierEvent.Moved e -> new EventMessage(e.sequence(), "moved", canonical(e.key()), null, null,
          LevelName.of(e.to()), LevelName.of(e.from()));
      case TierEvent.Lost e -> new EventMessage(e.sequence(), "lost", canonical(e.key()), e.reason(), null,
          LevelName.of(e.levels()), null);
      case TierEvent.LevelDown e -> new EventMessage(e.sequence(), "levelDown", null, e.reason(), null,
          LevelName.of(List.of(e.level())), null);
      case TierEvent.LevelUp e -> of(e, "levelUp", List.of(e.level()));
      case TierEvent.Skipped e -> new EventMessage(e.sequence(), "skipped", null, null, e.count(), null, null);
      case TierEvent.SnapshotStarted e -> of(e, "snapshot", e.down());
      case TierEvent.SnapshotEnded e -> new EventMessage(e.sequence(), "snapshotEnd");
      case TierEvent.SessionEnded e ->
        new EventMessage(e.sequence(), "sessionEnded", null, null, null, null, null, e.session().bytes());
    };
  }

  private static EventMessage of(TierEvent event, String type, BlockKey key, List<TierEvent.Level> levels) {
    return new EventMessage(event.sequence(), type, canonical(key), null, null, LevelName.of(levels), null);
  }

  private static EventMessage of(TierEvent event, String type, List<TierEvent.Level> levels) {
    return new EventMessage(event.sequence(), type, null, null, null, LevelName.of(levels), null);
  }

  /// @throws WireFormatException if the type is unknown, or a field of it is missing
  public TierEvent event() {
    return switch (type) {
      case "stored" -> new TierEvent.Stored(sequence, blockKey(), some("event.levels", levels));
      case "present" -> new TierEvent.Present(sequence, blockKey(), some("event.levels", levels));
      case "evicted" -> new TierEvent.Evicted(sequence, blockKey(), some("event.levels", levels));
      case "removed" -> new TierEvent.Removed(sequence, blockKey(), some("event.levels", levels));
      case "moved" ->
        new TierEvent.Moved(sequence, blockKey(), some("event.from", from), some("event.levels", levels));
      case "lost" ->
        new TierEvent.Lost(sequence, blockKey(), some("event.levels", levels), reason == null ? "" : reason);
      case "levelDown" -> new TierEvent.LevelDown(sequence, level(), reason == null ? "" : reason);
      case "levelUp" -> new TierEvent.LevelUp(sequence, level());
      case "skipped" -> new TierEvent.Skipped(sequence, count == null ? 0 : count);
      case "snapshot" -> new TierEvent.SnapshotStarted(sequence, all("event.levels", levels));
      case "snapshotEnd" -> new TierEvent.SnapshotEnded(sequence);
      case "sessionEnded" -> new TierEvent.SessionEnded(sequence, SessionId.of(present("event.session", session)));
      default -> throw WireFormatException.request("event.type", TYPES, type);
    };
  }

  private BlockKey blockKey() {
    return BlockKey.read(ByteBuffer.wrap(exactly("event.key", key, BlockKey.BYTES)));
  }

  private TierEvent.Level level() {
    return some("event.levels", levels).getFirst();
  }

  private static List<TierEvent.Level> some(String field, @Nullable List<LevelName> names) {
    List<TierEvent.Level> levels = all(field, names);
    if (levels.isEmpty()) {
      throw WireFormatException.request(field, "at least one", "none");
    }
    return levels;
  }

  private static List<TierEvent.Level> all(String field, @Nullable List<LevelName> names) {
    return copied(field, names).stream().map(LevelName::level).toList();
  }

  private static byte[] canonical(BlockKey key) {
    ByteBuffer bytes = ByteBuffer.allocate(BlockKey.BYTES);
    key.write(bytes);
    return bytes.array();
  }
}
