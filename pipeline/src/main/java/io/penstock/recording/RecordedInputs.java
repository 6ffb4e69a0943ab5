package io.penstock.recording;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import io.penstock.tier.spi.TierInputs;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The inputs of a tier that is recorded: time of the turns, draws and holds as facts, slots that come back as turns.
final class RecordedInputs implements TierInputs {
  private final Turns turns;
  private final int tier;
  private final TierInputs inputs;

  RecordedInputs(Turns turns, int tier, TierInputs inputs) {
    this.turns = turns;
    this.tier = tier;
    this.inputs = inputs;
  }

  private RecordedEvent event(Kind kind) {
    return RecordedEvent.of(kind, 0).ofTier(tier);
  }

  @Override
  public @Nullable LongSupplier useMicros() {
    return inputs.useMicros();
  }

  @Override
  public long nanos() {
    return turns.now();
  }

  @Override
  public long draw() {
    long drawn = inputs.draw();
    turns.add(event(Kind.DRAW).with(drawn));
    return drawn;
  }

  @Override
  public ChunkSource chunks() {
    return inputs.chunks();
  }

  @Override
  public boolean isHeld(Block block) {
    boolean held = inputs.isHeld(block);
    turns.add(event(Kind.HELD).with(block.slot(), held ? 1 : 0)); // either answer: it may change within a turn
    return held;
  }

  @Override
  public void back(int slot, Runnable giveBack) {
    turns.run(() -> event(Kind.SLOT).with(slot), giveBack);
  }

  @Override
  public void decided(TierEvent event) {
    inputs.decided(event);
    turns.add(switch (event) {
      case TierEvent.Stored stored -> fact(Kind.STORED, event, stored.key(), levels(stored.levels()));
      case TierEvent.Moved moved ->
        fact(Kind.MOVED, event, moved.key(), levels(moved.from()) + " > " + levels(moved.to()));
      case TierEvent.Evicted evicted -> fact(Kind.EVICTED, event, evicted.key(), levels(evicted.levels()));
      case TierEvent.Removed removed -> fact(Kind.REMOVED, event, removed.key(), levels(removed.levels()));
      case TierEvent.Lost lost -> fact(Kind.LOST, event, lost.key(), levels(lost.levels()) + ": " + lost.reason());
      case TierEvent.LevelDown down ->
        fact(Kind.LEVEL_DOWN, event, null, down.level().name() + ": " + down.reason());
      case TierEvent.LevelUp up -> fact(Kind.LEVEL_UP, event, null, up.level().name());
      case TierEvent.Skipped _,TierEvent.SnapshotStarted _,TierEvent.Present _,TierEvent.SnapshotEnded _ ->
        throw ofAReader(event);
      case TierEvent.SessionEnded _ -> throw ofAReader(event);
    });
  }

  private static IllegalStateException ofAReader(TierEvent event) {
    return new IllegalStateException("a decision must make an event of its own (was " + event + ")");
  }

  /// There are more of them than of all others, so each is made in one step.
  private RecordedEvent fact(Kind kind, TierEvent event, @Nullable BlockKey key, String text) {
    return new RecordedEvent(kind, false, 0, tier, 0, new long[] {event.sequence()},
        key == null ? List.of() : List.of(key), text);
  }

  private static String levels(List<Level> levels) {
    return levels.size() == 1
        ? levels.getFirst().name()
        : levels.stream().map(Level::name).collect(Collectors.joining("+"));
  }
}
