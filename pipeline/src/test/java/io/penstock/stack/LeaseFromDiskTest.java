package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Medium;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.tier.TierListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

/// Reads under a read lease whose blocks are on a disk: layer by layer straight from there. The end of the lease, at
/// any moment of the read, is an error.
final class LeaseFromDiskTest extends StackSteps {
  private static final int HOST = 16;
  private static final int BLOCKS = 3;
  private static final Duration LIFE = Duration.ofSeconds(10);
  private static final SliceShape LAYER_BY_LAYER =
      new SliceShape(1, SPACE.layout().layerBytes(), SliceShape.Order.LAYER_FIRST, 0);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private long now = 7;
  private final MemoryStore disk = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add);
  private final TierStack stack = new TierStack(SPACE,
      List.of(new StackLevel.Host("dram", HOST), new StackLevel.Stored(disk, 64)),
      StackOptions.defaults("stack").withIngressBlocks(4).withExact(false), TierListener.noop(), () -> now);
  private final TierHolds holds = stack.holds("me");
  private final BlockScope scope = new BlockScope();
  private final List<BlockKey> keys = IntStream.range(0, BLOCKS).mapToObj(StackSteps::key).toList();
  private long lease;

  @BeforeEach
  void leaseBlocksOnDisk() {
    for (int i = 0; i < BLOCKS + HOST; i++) {
      put(stack, i);
      runTasks();
    }
    assertThat(levels(stack).getLast().blocks()).isEqualTo(BLOCKS);
    ReadLease read = requireNonNull(holds.lease(keys, LeaseTerms.defaults()).block(SOON));
    assertThat(read.leased().count()).isEqualTo(BLOCKS);
    lease = read.id();
  }

  @AfterEach
  void close() {
    scope.close();
    holds.close();
    runTasks();
    assertClosesClean(stack);
  }

  /// Takes slices as it asks for them, compares and closes each.
  private static final class Reader extends BaseSubscriber<LayerSlice> {
    private final List<Integer> layers = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      // it asks later
    }

    @Override
    protected void hookOnNext(LayerSlice slice) {
      slice.spans().forEach(Blocks::assertBytes);
      layers.add(slice.range().first() / 2);
      slice.close();
    }

    @Override
    protected void hookOnError(Throwable failure) {
      failures.add(failure);
    }
  }

  private Reader read(SliceShape shape) {
    Reader reader = new Reader();
    requireNonNull(holds.read(lease, keys, scope).block(SOON)).slices(shape, scope).subscribe(reader);
    return reader;
  }

  private void assertExpired(Reader reader, int slices) {
    assertThat(reader.layers).hasSize(slices);
    assertThat(reader.failures).singleElement().isInstanceOf(LeaseExpiredException.class);
  }

  @Test
  void layers_comeStraightFromTheDisk_andTheBlocksStayThere() {
    Reader reader = read(LAYER_BY_LAYER);
    reader.request(Long.MAX_VALUE);
    assertThat(reader.layers).as("nothing is in memory").isEmpty();
    runTasks();
    assertThat(reader.layers).containsExactly(0, 1, 0, 1, 0, 1);
    assertThat(reader.failures).isEmpty();
  }

  @Test
  void laterLayersAlone_canBeRead() {
    Reader reader = read(LAYER_BY_LAYER.withStartLayer(1));
    reader.request(Long.MAX_VALUE);
    runTasks();
    assertThat(reader.layers).containsExactly(1, 1, 1);
  }

  @Test
  void lease_livesAsLongAsTheDiskTakes() {
    Reader reader = read(LAYER_BY_LAYER);
    reader.request(1);
    now += LIFE.multipliedBy(9).toNanos();
    for (int i = 50; i < 50 + 70; i++) {
      put(stack, i);
      runTasks();
    }
    assertThat(present(stack, 0, 1, 2)).as("others were evicted").isEqualTo("111");
    reader.request(Long.MAX_VALUE);
    runTasks();
    assertThat(reader.layers).hasSize(6);
    assertThat(reader.failures).isEmpty();
  }

  @Test
  void releaseWhileTheDiskReads_isAnError_andNotAByte() {
    Reader reader = read(LAYER_BY_LAYER);
    reader.request(Long.MAX_VALUE);
    holds.release(lease).block(SOON);
    runTasks();
    assertExpired(reader, 0);
  }

  @Test
  void releaseBetweenLayers_isAnError() {
    Reader reader = read(LAYER_BY_LAYER);
    reader.request(1);
    runTasks();
    assertThat(reader.layers).hasSize(1);
    holds.release(lease).block(SOON);
    reader.request(Long.MAX_VALUE);
    runTasks();
    assertExpired(reader, 1);
  }

  @Test
  void releaseBetweenWindows_isAnError() {
    Reader reader = read(LAYER_BY_LAYER);
    reader.request(2);
    runTasks();
    assertThat(reader.layers).hasSize(2);
    holds.release(lease).block(SOON);
    reader.request(Long.MAX_VALUE);
    runTasks();
    assertExpired(reader, 2);
  }

  @Test
  void releaseWhileWholeBlocksAreRead_isAnError_andNoBlock() {
    Mono<List<List<LeasedBlock>>> blocks =
        holds.read(lease, keys, scope).flatMapMany(read -> read.windows(BLOCKS, scope)).collectList();
    CompletableFuture<List<List<LeasedBlock>>> reading = blocks.toFuture();
    holds.release(lease).block(SOON);
    runTasks();
    assertThat(reading).isCompletedExceptionally();
    assertThat(reading.exceptionNow()).isInstanceOf(LeaseExpiredException.class);
  }
}
