package io.penstock.readme;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.TierContract;
import io.penstock.tier.BlockTier;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.spi.ReadOnlyTierException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

/// The README's example of an [io.penstock.tier.spi.OnDemandTier] passes the core of the contract.
final class FetchedTierTest extends TierContract {
  private static final String MARK = "// README\n";

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();
  private final SlabArena arena = leaks.watch(new SlabArena("fetched", SPACE.layout(), 16, 16));
  private final Map<BlockKey, Mono<byte[]>> answers = new HashMap<>();

  @Override
  protected BlockTier openFilled() {
    return new FetchedTier(SPACE, arena, Set.copyOf(present()),
        key -> answers.getOrDefault(key, Mono.fromSupplier(() -> bytes(key))));
  }

  private static byte[] bytes(BlockKey key) {
    byte[] bytes = new byte[SPACE.layout().blockBytes()];
    Blocks.fill(key, 0, MemorySegment.ofArray(bytes));
    return bytes;
  }

  @Test
  void blockThatIsNotThereAfterAll_isAMiss() {
    answers.put(key(1), Mono.empty());
    answers.put(key(4), Mono.empty());
    assertThat(got(openFilled(), keys(0, 6))).containsExactly(key(0), key(2), key(3), key(5));
    keys(0, 4).forEach(key -> answers.put(key, Mono.empty()));
    assertThat(got(openFilled(), keys(0, 3))).isEmpty();
  }

  @Test
  void failedFetch_isTheReadersError_andItsMemoryComesBack() {
    answers.put(key(2), Mono.error(new IOException("gone")));
    assertThatThrownBy(() -> got(openFilled(), keys(0, 6))).hasRootCauseMessage("gone");
    assertThat(arena.claimedSlots()).isZero();
  }

  @Test
  void blocksOfAWindow_areFetchedSideBySide_andKeepTheirOrder() {
    Sinks.One<byte[]> first = Sinks.one();
    answers.put(key(0), first.asMono());
    BlockTier tier = openFilled();
    try (BlockScope scope = new BlockScope()) {
      StepVerifier.create(tier.lease(keys(0, 3), OnMiss.SKIP, scope).flatMapMany(lease -> lease.windows(3, scope)))
          .then(() -> assertThat(requireNonNull(tier.stat().block()).stored()).as("the others are made").isEqualTo(2))
          .then(() -> first.tryEmitValue(bytes(key(0))).orThrow())
          .assertNext(window -> assertThat(window).extracting(LeasedBlock::position).containsExactly(0, 1, 2))
          .expectComplete().verify(PATIENCE);
    }
  }

  @Test
  void fullArena_holdsTheNextReaderBack() {
    BlockTier tier = openFilled();
    try (BlockScope scope = new BlockScope(); BlockScope other = new BlockScope()) {
      read(value(tier.lease(present(), OnMiss.SKIP, scope)), 8, scope);
      read(value(tier.lease(present(), OnMiss.SKIP, scope)), 8, scope);
      Mono<List<LeasedBlock>> third =
          tier.lease(keys(0, 1), OnMiss.SKIP, other).flatMapMany(lease -> lease.windows(1, other)).next();
      StepVerifier.create(third).then(scope::close).expectNextCount(1).expectComplete().verify(PATIENCE);
    }
  }

  @Test
  void writing_isRefused() {
    BlockTier tier = openFilled();
    try (BlockScope scope = new BlockScope()) {
      assertThatThrownBy(() -> value(tier.reserve(keys(0, 1), scope))).isInstanceOf(ReadOnlyTierException.class);
      assertThatThrownBy(() -> value(tier.remove(keys(0, 1)))).isInstanceOf(ReadOnlyTierException.class);
    }
  }

  @Test
  void readme_showsTheMarkedPart() throws IOException {
    String source = Files.readString(Path.of("src/test/java/io/penstock/readme/FetchedTier.java"));
    String marked = source.substring(source.indexOf(MARK) + MARK.length(), source.lastIndexOf(MARK));

    assertThat(Files.readString(Path.of("README.md"))).contains("\n\n" + marked + "```\n");
    assertThat(Files.readAllLines(Path.of("README.md"))).hasSizeLessThanOrEqualTo(150);
  }
}
