package io.penstock.node.client;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.content.GeneratedInput;
import io.penstock.stack.HostTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.ForwardingLease;
import io.penstock.tier.spi.ForwardingTier;
import io.penstock.tier.spi.StoreUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What `check` says of a node that does not give all that it promised.
@Timeout(60)
final class CheckCommandTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final NodeConfig CONFIG = NodeConfig.defaults();

  @TempDir
  private Path folder;
  private final HostTier tier = new HostTier(CONFIG.space(), 100, TierListener.noop());
  /// What the node answers to a request for one of these.
  private final Map<BlockKey, RuntimeException> refusals = new HashMap<>();
  private List<BlockKey> keys = List.of();
  private @Nullable BlockKey rotten;
  private StoreHealth disk = StoreHealth.GOOD;

  private final class RefusingTier extends ForwardingTier {
    private RefusingTier() {
      super(tier);
    }

    @Override
    public Mono<Lease> lease(List<BlockKey> asked, OnMiss onMiss, BlockScope scope) {
      return asked.stream().filter(refusals::containsKey).findFirst().map(key -> Mono.<Lease>error(refusals.get(key)))
          .orElseGet(() -> super.lease(asked, onMiss, scope))
          .map(lease -> rotten != null && asked.contains(rotten) ? new RottenLease(lease) : lease);
    }

    @Override
    public Mono<TierStat> stat() {
      return super.stat().flatMap(CheckCommandTest.this::withDisk);
    }
  }

  /// Of two levels.
  private Mono<TierStat> withDisk(TierStat of) {
    TierStat.Level level = new TierStat.Level("ssd", Medium.DISK, 100, 0, 0, 0, 0, disk, null, null);
    return Mono.just(new TierStat(of.blocks(), of.capacityBlocks(), of.bytes(), of.claimedBytes(), of.hits(),
        of.misses(), of.stored(), of.evicted(), of.corrupt(), of.lastSequence(), List.of(level), of.tiering()));
  }

  /// Meets with damage if the block is there still, and lets go of it, as a stack of tiers does.
  private final class RottenLease extends ForwardingLease {
    private RottenLease(Lease lease) {
      super(lease);
    }

    @Override
    public Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope) {
      BlockKey key = requireNonNull(rotten);
      return tier.remove(List.of(key))
          .flatMapMany(removed -> removed.get(0)
              ? Flux.error(new BlockCorruptException("ssd", key, 0, 1, 2))
              : super.windows(maxBlocks, scope));
    }
  }

  @BeforeEach
  void load() throws IOException {
    GeneratedInput input = new GeneratedInput(CONFIG.space().id(), 1, 10);
    keys = input.next(10);
    WindowPut.store(link(), keys, input, SOON);
    try (AckFile acks = AckFile.append(folder.resolve("receipts"))) {
      acks.add(keys.stream().map(key -> Ack.of(new Receipt(key, "ssd", Durability.WRITTEN, 1))));
    }
  }

  @AfterEach
  void close() {
    tier.close().block(SOON);
  }

  private LinkedTier link() {
    return new LinkedTier(new RefusingTier());
  }

  private LinkedTier.Run check(String... flags) {
    return link().run("check",
        Stream.concat(Stream.of("--receipts", folder.resolve("receipts").toString()), Stream.of(flags))
            .toArray(String[]::new));
  }

  private static void assertRow(LinkedTier.Run run, int present, int missing, int corrupt, int unknown) {
    assertThat(run.out()).as(run.err()).startsWith("PROMISED  BLOCKS  PRESENT  MISSING  CORRUPT  UNKNOWN\n")
        .containsPattern("written +10 +%d +%d +%d +%d\n".formatted(present, missing, corrupt, unknown));
  }

  @Test
  void everythingThere_endsWith0() {
    LinkedTier.Run run = check();
    assertRow(run, 10, 0, 0, 0);
    assertThat(run.code()).isZero();
    assertThat(run.err()).isEqualTo("every promise was kept\n");
  }

  @Test
  void fileThatIsNoText_endsWith65_andIsNamed() throws IOException {
    Files.write(folder.resolve("receipts"), new byte[] {(byte) 0xff, (byte) 0xfe, 0, 1});
    LinkedTier.Run run = check();
    assertThat(run.code()).isEqualTo(65);
    assertThat(run.err()).contains(folder.resolve("receipts") + " must be text in UTF-8 (was not)");
  }

  @Test
  void refusedBlock_isUnknown_notCorrupt_andEndsWith69() throws IOException {
    refusals.put(keys.get(3), new StoreUnavailableException("the disk does not answer"));
    LinkedTier.Run run = check();
    assertRow(run, 9, 0, 0, 1);
    assertThat(run.code()).isEqualTo(69);
    assertThat(run.err())
        .isEqualTo("no promise is known to be broken\nnothing is known of 1 block: the disk does not answer\n");

    JsonNode json = JsonMapper.shared().readTree(check("--json").out());
    assertThat(json.get("kept").asBoolean()).isFalse();
    assertThat(json.get("broken")).isEmpty();
    assertThat(json.at("/byPromise/written/unknown").asInt()).isOne();
    assertThat(json.get("refusal").asString()).isEqualTo("the disk does not answer");
  }

  @Test
  void damagedBlock_isCorrupt_andEndsWith1_whateverElseIsUnknown() {
    refusals.put(keys.get(0), new StoreUnavailableException("busy"));
    refusals.put(keys.get(3), new BlockCorruptException("ssd", keys.get(3), 0, 1, 2));
    LinkedTier.Run run = check();
    assertRow(run, 8, 0, 1, 1);
    assertThat(run.code()).isOne();
    assertThat(run.err())
        .isEqualTo("corrupt " + keys.get(3) + "\n1 promise was broken\nnothing is known of 1 block: busy\n");
  }

  @Test
  void damagedBlockThatTheNodeLetsGoOf_isCorrupt_whateverWasPromised() throws IOException {
    rotten = keys.get(3);
    Files.writeString(folder.resolve("receipts"),
        Files.readString(folder.resolve("receipts")).replace("written", "volatile"));
    tier.remove(List.of(keys.get(9))).block(SOON);

    LinkedTier.Run run = check();

    assertThat(run.out()).containsPattern("volatile +10 +8 +1 +1 +0\n");
    assertThat(run.code()).isOne();
    assertThat(run.err()).isEqualTo("corrupt " + keys.get(3) + "\n1 promise was broken\n");
  }

  @Test
  void missingBlock_ofANodeWithALevelThatIsOff_isUnknown_andTheLevelIsNamed() {
    tier.remove(keys.subList(3, 5)).block(SOON);
    LinkedTier.Run whole = check();
    assertRow(whole, 8, 2, 0, 0);
    assertThat(whole.code()).isOne();
    disk = new StoreHealth(StoreHealth.State.OFF, "no answer within 2000 ms");
    LinkedTier.Run run = check();
    assertRow(run, 8, 0, 0, 2);
    assertThat(run.code()).isEqualTo(69);
    assertThat(run.err()).isEqualTo("no promise is known to be broken\n"
        + "nothing is known of 2 blocks: level ssd is off: no answer within 2000 ms\n");
  }

  @Test
  void volatileBlocksThatAreMissing_wereNotPromised() throws IOException {
    Files.writeString(folder.resolve("receipts"),
        Files.readString(folder.resolve("receipts")).replace("written", "volatile"));
    tier.remove(keys.subList(0, 3)).block(SOON);

    LinkedTier.Run run = check();

    assertThat(run.code()).isZero();
    assertThat(run.err())
        .isEqualTo("every promise was kept; 3 volatile blocks are missing, which was not promised\n");
  }

  @Test
  void nodeThatGoesAway_leavesTheRestUnknown() {
    tier.remove(List.of(keys.get(9))).block(SOON);
    refusals.put(keys.get(2), new StoreUnavailableException("busy"));
    refusals.put(keys.get(5), new UnavailableException("gone"));
    LinkedTier.Run run = check();
    assertRow(run, 4, 0, 0, 6);
    assertThat(run.code()).isEqualTo(69);
    assertThat(run.err()).endsWith("nothing is known of 6 blocks: busy\n");
  }
}
