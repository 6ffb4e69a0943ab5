package io.penstock.examples.tiers;

import io.penstock.block.BlockKey;
import io.penstock.device.Device;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.examples.source.Reading;
import io.penstock.examples.tiers.TiersReport.First;
import io.penstock.examples.tiers.TiersReport.Second;
import io.penstock.examples.tiers.TiersReport.Step;
import io.penstock.node.cli.Progress;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.text.Sizes;
import io.penstock.node.tiers.BuiltTiers;
import io.penstock.node.tiers.TierRecording;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierStat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The story: more blocks than device and host memory hold are demoted to the disk and promoted again; then the same
/// folder is opened again.
final class TiersRun {
  static final int BLOCKS = 64;
  /// Number of steps: each block is put, and read once before and once after the folder is opened again; the first
  /// window is read once more.
  private static final int STEPS = 3 * BLOCKS + Tiers.WINDOW_BLOCKS;
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration LOOK_EVERY = Duration.ofMillis(20);
  private static final int STILL_LOOKS = 4;

  private final TiersOptions options;
  private final Scheduler timers;
  private final Progress progress;
  private final List<BlockKey> keys;
  private final List<BlockKey> window;
  private final List<BlockKey> others;
  private final @Nullable TierRecording recording;
  private long leakedBlocks;
  private int done;

  /// @param progress receives the blocks that were put and read
  /// @param recording of the stacks and of the flows of blocks; null for none
  TiersRun(TiersOptions options, Scheduler timers, Progress progress, @Nullable TierRecording recording) {
    this.recording = recording;
    this.progress = progress;
    this.options = options;
    this.timers = timers;
    this.keys = Tiers.keys(options.seed(), BLOCKS);
    this.window = keys.subList(0, Tiers.WINDOW_BLOCKS);
    this.others = keys.subList(Tiers.WINDOW_BLOCKS, BLOCKS).reversed();
  }

  TiersReport run() {
    First first = with(this::fillAndRead);
    Second second = with(this::readWhatIsLeft);
    return new TiersReport(options.engine(), options.mode(), BLOCKS, Tiers.SPACE.layout().blockBytes(), first, second,
        leakedBlocks);
  }

  /// A stack of its own for `story`, on a device that knows nothing yet, as after a restart.
  private <R> R with(Function<BlockTier, R> story) {
    Device device = SimulatedDevice
        .open(SimulatedDeviceOptions.defaults((long) Tiers.HBM_BLOCKS * Tiers.SPACE.layout().blockBytes()));
    try {
      BuiltTiers built = await(Tiers.open(device, options.journal(), options.mode(), recording));
      try {
        return story.apply(built.tier());
      } finally {
        built.tier().close().block(LIMIT);
        leakedBlocks += built.stack().arena().claimedSlots();
      }
    } finally {
      device.close().block(LIMIT);
    }
  }

  private First fillAndRead(BlockTier stack) {
    List<Step> steps = new ArrayList<>();
    long found = present(stack);
    long besides = await(stack.stat()).blocks() - found;
    begin("putting " + BLOCKS + " blocks of " + Sizes.exact(Tiers.SPACE.layout().blockBytes()), 0);
    List<Receipt> receipts =
        await(Tiers.put(stack, keys).transform(RecordOptions.flow(recording, "put")).collectList());
    steps.add(step("put " + BLOCKS, stack));
    begin("reading the first " + window.size() + " from the disk", BLOCKS);
    Reading fromDisk = read(stack, window);
    steps.add(step("read first " + window.size(), stack));
    begin("reading them again", window.size());
    Reading again = read(stack, window);
    steps.add(step("read them again", stack));
    begin("reading the other " + others.size(), window.size());
    Reading rest = read(stack, others);
    steps.add(step("read other " + others.size(), stack));
    return new First(found, besides,
        receipts.stream().collect(Collectors.groupingBy(Receipt::durability, Collectors.counting())), fromDisk, again,
        rest, steps);
  }

  private Second readWhatIsLeft(BlockTier stack) {
    begin("reading what is left, after the folder was opened again", others.size());
    Step opened = step("open again", stack);
    Second second = new Second(present(stack), read(stack, keys), opened);
    done += BLOCKS;
    progress.at(done, STEPS);
    return second;
  }

  /// @param behind blocks of the step before
  private void begin(String what, int behind) {
    done += behind;
    progress.next(what);
    progress.at(done, STEPS);
  }

  /// Number of blocks of this run that are there.
  private long present(BlockTier stack) {
    return await(stack.contains(keys)).count();
  }

  /// Bytes follow the ledger's decisions. A step waits until no memory holds more than the ledger has there, and no
  /// block moves for a while. (Other work of the disk, such as forcing, goes on.)
  private Step step(String did, BlockTier stack) {
    Flux<TierStat> looks = stack.stat().repeatWhen(looked -> looked.delayElements(LOOK_EVERY, timers));
    return await(looks.map(TierStat::levels).buffer(STILL_LOOKS, 1)
        .filter(last -> isStill(last) && hasFollowed(last.getFirst())).next()
        .map(last -> new Step(did, last.getFirst())));
  }

  private static boolean isStill(List<List<TierStat.Level>> looks) {
    return looks.stream()
        .map(levels -> levels.stream().map(level -> List.of(level.blocks(), level.storedBlocks(), level.arrived()))
            .toList())
        .distinct().count() == 1;
  }

  private boolean hasFollowed(List<TierStat.Level> levels) {
    return options.mode() == StackOptions.Mode.WRITE_THROUGH // memory keeps copies of blocks of a faster level, too
        || levels.stream().allMatch(level -> level.medium() == Medium.DISK || level.storedBlocks() <= level.blocks());
  }

  private Reading read(BlockTier stack, List<BlockKey> wanted) {
    return await(Tiers.read(stack, wanted, RecordOptions.flow(recording, "read")));
  }

  private static <T> T await(Mono<T> mono) {
    return mono.blockOptional(LIMIT).orElseThrow();
  }
}
