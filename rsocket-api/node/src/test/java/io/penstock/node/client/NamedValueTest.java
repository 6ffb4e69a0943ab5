package io.penstock.node.client;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.flow.ValueStore;
import io.penstock.node.content.WholeInput;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ForwardingTier;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

@Timeout(120)
final class NamedValueTest {
  private static final CacheSpace SPACE = ValueStore.space("values", 16 << 10, "");
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final PutTerms UPSERT = PutTerms.plain().withUpserts(true);

  private final HostTier tier = new HostTier(SPACE, 16,
      StackOptions.defaults("values").withIngressBlocks(8).withExact(false), TierListener.noop());
  private final AtomicInteger tries = new AtomicInteger();

  @TempDir
  private Path folder;

  @AfterEach
  void close() {
    tier.close().block(SOON);
  }

  @BeforeEach
  void storeAValue() throws IOException {
    assertThat(put(tier, 50_000).err()).contains("k, 48.8 KiB: stored");
  }

  private LinkedTier.Run put(BlockTier at, int bytes, String... more) throws IOException {
    Path file = Files.write(folder.resolve("value.bin"), new byte[bytes]);
    List<String> flags = new ArrayList<>(
        List.of("--model", "values", "--value-part-bytes", "16KiB", "--name", "k", file.toString()));
    flags.addAll(List.of(more));
    return new LinkedTier(at).run("put", flags.toArray(String[]::new));
  }

  /// The tier, where another client has room for the value during the first `busy` tries to replace it.
  private BlockTier busy(int busy) {
    return new ForwardingTier(tier) {
      @Override
      public Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
        return !terms.upserts() || tries.incrementAndGet() > busy
            ? super.reserve(keys, terms, scope)
            : Mono.usingWhen(Mono.fromSupplier(BlockScope::new),
                theirs -> tier.reserve(keys, UPSERT, theirs).then(super.reserve(keys, terms, scope)),
                theirs -> Mono.fromRunnable(theirs::close));
      }
    };
  }

  @Test
  void aValue_isReplaced_atTheLastTry() throws IOException {
    LinkedTier.Run put = put(busy(7), 20_000, "--replace");
    assertThat(put.err()).contains("k, 19.5 KiB: stored");
    assertThat(put.code()).isZero();
    assertThat(tries).hasValue(8);
    assertThat(new ValueStore(tier).length("k").block(SOON)).isEqualTo(20_000);
    assertThat(requireNonNull(tier.stat().block(SOON)).blocks()).as("its part and its head").isEqualTo(2);
  }

  @Test
  void missingValue_ofASpaceThatDoorsDoNotUseByDefault_hasNoHint() {
    HostTier other = new HostTier(ValueStore.space("mine", 16 << 10, ""), 16,
        StackOptions.defaults("mine").withIngressBlocks(8).withExact(false), TierListener.noop());
    LinkedTier.Run get = new LinkedTier(other).run("get", "--model", "mine", "--value-part-bytes", "16KiB", "--name",
        "none", "--output", folder.resolve("out").toString());
    assertThat(get.err()).contains("missing none").doesNotContain("doors");
    assertThat(get.code()).isEqualTo(1);
    other.close().block(SOON);
  }

  @Test
  void missingValue_mayBeWhereTheDoorsKeepOthersOfItsLength() {
    LinkedTier.Run get = new LinkedTier(tier).run("get", "--model", "values", "--value-part-bytes", "16KiB", "--name",
        "none", "--output", folder.resolve("out").toString());
    assertThat(get.err()).contains("missing none (doors keep a value by its length, by default with --value-part-bytes"
        + " 256.5KiB or 64.5KiB or 4.5KiB)");
    assertThat(get.code()).isEqualTo(1);
  }

  @Test
  void aValue_staysAsItWas_ifAnotherClientStoresItAtEachTry() throws IOException {
    LinkedTier.Run put = put(busy(8), 20_000, "--replace");
    assertThat(put.err()).contains("value k must be free of other writers to be replaced (another client was storing"
        + " it at each of 8 tries; value k is as it was or theirs)").doesNotContain("--replace");
    assertThat(put.code()).isEqualTo(1);
    assertThat(tries).hasValue(8);
    assertThat(new ValueStore(tier).length("k").block(SOON)).isEqualTo(50_000);
    assertThat(requireNonNull(tier.stat().block(SOON)).blocks()).as("three parts and a head").isEqualTo(4);
  }

  @Test
  void standardInput_thatNeverEnds_isRefused_whenItHasBroughtMoreThanAValueMayHave() {
    AtomicLong read = new AtomicLong();
    InputStream endless = new InputStream() {
      @Override
      public int read() {
        read.incrementAndGet();
        return 0;
      }

      @Override
      public int read(byte[] to, int offset, int length) {
        read.addAndGet(length);
        return length;
      }
    };
    LinkedTier.Run put = new LinkedTier(tier).run(endless, "put", "--model", "values", "--value-part-bytes", "16KiB",
        "--name", "endless", "-");
    assertThat(put.err()).contains("value endless must be <= 262080 bytes, the longest that space values takes (was "
        + read + " so far, from standard input)");
    assertThat(put.code()).isEqualTo(1);
    assertThat(read.get()).isBetween(262_081L, 400_000L);
    assertThat(new ValueStore(tier).length("endless").blockOptional(SOON)).isEmpty();
  }

  @Test
  void aDeviceThatNeverEnds_isRefused_byItsName() {
    assumeThat(Path.of("/dev/zero")).exists();
    LinkedTier.Run put = new LinkedTier(tier).run("put", "--model", "values", "--value-part-bytes", "16KiB", "--name",
        "k", "--replace", "/dev/zero");
    assertThat(put.err()).contains("value k must be <= ", "so far, from /dev/zero)");
    assertThat(put.code()).isEqualTo(1);
    assertThat(new ValueStore(tier).length("k").block(SOON)).as("the value of before").isEqualTo(50_000);
  }

  @Test
  void standardInput_mayHaveAsMuchAsAValue_andItsFileIsGoneAfterwards() throws IOException {
    long longest = new ValueStore(tier).longest("k");
    WholeInput.Bound bound = new WholeInput.Bound("k", "values", "standard input", longest);
    byte[] bytes = new byte[(int) longest];
    new Random(5).nextBytes(bytes);
    try (WholeInput whole = WholeInput.of(new ByteArrayInputStream(bytes), bound, folder)) {
      assertThat(whole.file()).hasBinaryContent(bytes);
    }
    assertThat(folder).isDirectoryNotContaining("glob:**penstock-put-*");
    InputStream more = new SequenceInputStream(new ByteArrayInputStream(bytes), new ByteArrayInputStream(new byte[1]));
    assertThatThrownBy(() -> WholeInput.of(more, bound, folder)).isInstanceOf(WholeInput.InputTooLongException.class);
    assertThat(folder).isDirectoryNotContaining("glob:**penstock-put-*");

    LinkedTier.Run put = new LinkedTier(tier).run(new ByteArrayInputStream(bytes), "put", "--model", "values",
        "--value-part-bytes", "16KiB", "--name", "k", "--replace");
    assertThat(put.err()).contains("k, 256 KiB: stored");
  }
}
