package io.penstock.recording;

import io.penstock.block.Block;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import io.penstock.tier.spi.TierInputs;
import java.util.List;
import java.util.stream.Collectors;

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
    RecordedEvent fact = switch (event) {
      case TierEvent.Stored stored -> event(Kind.STORED).with(stored.key()).with(levels(stored.levels()));
      case TierEvent.Moved moved ->
        event(Kind.MOVED).with(moved.key()).with(levels(moved.from()) + " > " + levels(moved.to()));
      case TierEvent.Evicted evicted -> event(Kind.EVICTED).with(evicted.key()).with(levels(evicted.levels()));
      case TierEvent.Removed removed -> event(Kind.REMOVED).with(removed.key()).with(levels(removed.levels()));
      case TierEvent.Lost lost -> event(Kind.LOST).with(lost.key()).with(levels(lost.levels()) + ": " + lost.reason());
      case TierEvent.LevelDown down -> event(Kind.LEVEL_DOWN).with(down.level().name() + ": " + down.reason());
      case TierEvent.LevelUp up -> event(Kind.LEVEL_UP).with(up.level().name());
      case TierEvent.Skipped _,TierEvent.SnapshotStarted _,TierEvent.Present _,TierEvent.SnapshotEnded _ ->
        throw new IllegalStateException("a decision must make an event of its own (was " + event + ")");
    };
    turns.add(fact.with(event.sequence()));
  }

  private static String levels(List<Level> levels) {
    return levels.stream().map(Level::name).collect(Collectors.joining("+"));
  }
}
