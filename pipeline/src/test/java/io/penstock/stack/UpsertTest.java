package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/// Puts that replace: of a key that is missing, read, copied, pinned, or being replaced already. Readers meet the old
/// bytes until the commit and the new ones after it, never an error. Values of another size are in `ValueStoreTest`.
final class UpsertTest extends StackSteps {
  private static final int HOST = 8;
  private static final List<BlockKey> KEY = List.of(key(0));
  private static final PutTerms UPSERT = PutTerms.plain().withUpserts(true);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private long now = 7;
  private int others = 1;
  private final TierStack stack = new TierStack(SPACE,
      List.of(new StackLevel.Host("dram", HOST),
          new StackLevel.Stored(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add), 64)),
      StackOptions.defaults("stack").withIngressBlocks(4).withExact(false), TierListener.noop(), () -> now);
  private final TierHolds holds = stack.holds("me");
  private final BlockScope scope = new BlockScope();

  @AfterEach
  void close() {
    scope.close();
    holds.close();
    runTasks();
    assertClosesClean(stack);
  }

  private static <T> T value(Mono<T> mono) {
    return requireNonNull(mono.block(SOON));
  }

  private static BlockDraft filled(BlockDraft draft, int value) {
    GranuleRange all = GranuleRange.all(draft.layout());
    draft.write(all, memory -> memory.fill((byte) value));
    draft.produced(all);
    return draft;
  }

  private List<Receipt> put(PutTerms terms, int value) {
    try (BlockScope own = new BlockScope()) {
      Reservation room = value(stack.reserve(KEY, terms, own));
      room.drafts().forEach(draft -> filled(draft, value));
      return value(room.commit(room.drafts()));
    }
  }

  private CompletableFuture<List<Block>> reading() {
    return stack.get(KEY, scope).collectList().toFuture();
  }

  private int byteNow() {
    CompletableFuture<List<Block>> reading = reading();
    runTasks();
    return byteOf(reading);
  }

  private static int byteOf(CompletableFuture<List<Block>> reading) {
    List<Block> blocks = reading.getNow(List.of());
    assertThat(blocks).hasSize(1);
    try (Block block = blocks.getFirst()) {
      return block.read(memory -> {
        assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsOnly(memory.get(ValueLayout.JAVA_BYTE, 0));
        return (int) memory.get(ValueLayout.JAVA_BYTE, 0);
      });
    }
  }

  private void demote() {
    for (int i = 0; i < HOST; i++) {
      put(stack, others++);
    }
    assertThat(tasks).as("a copy under way").isNotEmpty();
  }

  @Test
  void keyThatIsMissing_isPut() {
    assertThat(put(UPSERT, 1)).hasSize(1);
    assertThat(byteNow()).isEqualTo(1);
  }

  private enum Place {
    MEMORY, ON_ITS_WAY, DISK
  }

  @ParameterizedTest
  @EnumSource
  void blockThatIsRead_isReplacedWhereverItIs_andItsReaderKeepsTheOldBytes(Place place) {
    put(PutTerms.plain(), 1);
    if (place != Place.MEMORY) {
      demote();
    }
    if (place == Place.DISK) {
      runTasks();
    }
    Reservation room = value(stack.reserve(KEY, UPSERT, scope));
    assertThat(byteNow()).as("before the commit").isEqualTo(1);
    CompletableFuture<List<Block>> before = reading();
    filled(room.drafts().getFirst(), 2);
    assertThat(value(room.commit(room.drafts()))).hasSize(1);
    room.close();
    CompletableFuture<List<Block>> after = reading();
    runTasks();
    assertThat(byteOf(before)).isEqualTo(1);
    assertThat(byteOf(after)).isEqualTo(2);
    assertThat(byteNow()).isEqualTo(2);
    for (int i = 0; i < HOST; i++) {
      put(stack, others++);
      runTasks();
    }
    assertThat(byteNow()).as("from the disk").isEqualTo(2);
  }

  @Test
  void writerThatGivesUp_leavesTheOldBlock() {
    put(PutTerms.plain(), 1);
    Reservation room = value(stack.reserve(KEY, UPSERT, scope));
    filled(room.drafts().getFirst(), 2);
    room.close();
    assertThat(byteNow()).isEqualTo(1);
    assertThat(put(UPSERT, 3)).as("the next writer").hasSize(1);
    assertThat(byteNow()).isEqualTo(3);
  }

  /// In Mooncake Store an upsert takes a key over at once. Here it is like a put: a writer has its key for 30 s.
  @Test
  void secondWriter_isToldThatTheKeyIsBeingWritten_andTakesItOverAfter30Seconds() {
    put(PutTerms.plain(), 1);
    Reservation slow = value(stack.reserve(KEY, UPSERT, scope));
    filled(slow.drafts().getFirst(), 2);
    Reservation second = value(stack.reserve(KEY, UPSERT, scope));
    assertThat(second.drafts()).isEmpty();
    assertThat(second.duplicates().count()).as("not done").isZero();
    now += Duration.ofSeconds(30).toNanos();
    assertThat(put(UPSERT, 3)).hasSize(1);
    assertThat(value(slow.commit(slow.drafts()))).isEmpty();
    assertThat(byteNow()).isEqualTo(3);
  }

  /// A pin that an upsert does not speak of survives it; else it is what the upsert says.
  @ParameterizedTest
  @CsvSource({"NONE,,NONE", "SOFT,,SOFT", "HARD,,HARD", "NONE,SOFT,SOFT", "SOFT,HARD,HARD", "HARD,SOFT,SOFT",
    "SOFT,NONE,NONE", "HARD,NONE,NONE"})
  void pin_survives_orIsSet_orEnds(Pin.Kind before, Pin.Kind said, Pin.Kind after) {
    put(PutTerms.plain().withPin(pin(before)), 1);
    put(UPSERT.withPin(said == null ? null : pin(said)), 2);
    TierStat.Holds stat = stat(stack).holds();
    assertThat(List.of(stat.softPinned(), stat.hardPinned()))
        .containsExactly(after == Pin.Kind.SOFT ? 1L : 0, after == Pin.Kind.HARD ? 1L : 0);
    assertThat(byteNow()).isEqualTo(2);
  }

  /// The life of a soft pin goes on as it was.
  @Test
  void softPin_thatSurvives_endsWhenItWouldHave() {
    put(PutTerms.plain().withPin(Pin.soft(Duration.ofMinutes(2))), 1);
    now += Duration.ofMinutes(1).toNanos();
    put(UPSERT, 2);
    now += Duration.ofMinutes(1).toNanos() - 1;
    assertThat(stat(stack).holds().softPinned()).isEqualTo(1);
    now++;
    assertThat(stat(stack).holds().softPinned()).isZero();
  }

  private static Pin pin(Pin.Kind kind) {
    return new Pin(kind, Duration.ZERO);
  }
}
