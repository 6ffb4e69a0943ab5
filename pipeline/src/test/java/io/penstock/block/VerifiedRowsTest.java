package io.penstock.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Plane.ElementType;
import io.penstock.check.Checksum;
import io.penstock.testkit.LeakLedger;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/// Slices that cut a granule are shared row by row, before the granule is whole.
final class VerifiedRowsTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(1, 4, 1, 8, ElementType.INT8);
  private static final BlockKey KEY = CacheSpace.of("rows", LAYOUT).key(new BlockHash(1, 2));
  private static final GranuleRange FIRST = GranuleRange.rows(0, 0, 2);
  private static final GranuleRange REST = GranuleRange.rows(0, 2, 2);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private BlockDraft draft() {
    SlabArena arena = leaks.watch(new SlabArena("rows", LAYOUT, 1, 1));
    return Objects.requireNonNull(arena.tryClaim(List.of(KEY))).getFirst();
  }

  private static void produce(BlockDraft draft, GranuleRange rows) {
    draft.write(rows, memory -> memory.fill((byte) (7 + rows.firstRow())));
    draft.produced(rows);
  }

  @Test
  void rows_verifiedAsTheyAre_areSharedBeforeTheirGranuleIsWhole() {
    try (BlockDraft draft = draft()) {
      produce(draft, FIRST);
      try (LayerSpan span = draft.span(FIRST)) {
        byte[] bytes = span.read(memory -> memory.toArray(ValueLayout.JAVA_BYTE));
        assertThat(span.checksums("test")).containsExactly(Checksum.of(MemorySegment.ofArray(bytes)));
        produce(draft, REST);
        assertThatCode(() -> span.verify("test")).doesNotThrowAnyException();
      }
    }
  }

  @Test
  void rows_partOfARunThatWasVerified_areVouchedForByTheWhole() {
    try (BlockDraft draft = draft()) {
      produce(draft, FIRST);
      try (LayerSpan span = draft.span(FIRST); LayerSpan part = span.share(GranuleRange.rows(0, 1, 1))) {
        byte[] bytes = part.read(memory -> memory.toArray(ValueLayout.JAVA_BYTE));
        assertThat(part.checksums("test")).containsExactly(Checksum.of(MemorySegment.ofArray(bytes)));
      }
    }
  }

  @Test
  void rows_notVerified_areRefused() {
    try (BlockDraft draft = draft()) {
      produce(draft, FIRST);
      assertThatThrownBy(() -> draft.span(REST)).isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("granules must be verified before they are shared");
      assertThatThrownBy(() -> draft.span(GranuleRange.whole(0, 1))).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void rows_withTheChecksumOfTheirGranule_areVerifiedWithTheLastOnes() {
    try (BlockDraft draft = draft()) {
      int granule = granule(7, 9);
      land(draft, REST, granule);
      assertThat(draft.unverified(GranuleRange.whole(0, 1))).isNotEmpty();
      assertThat(draft.unverified(REST)).containsExactly(REST);
      assertThatThrownBy(() -> draft.span(REST)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> draft.write(REST, memory -> memory.fill((byte) 1)))
          .isInstanceOf(IllegalStateException.class);
      land(draft, FIRST, granule);
      assertThat(draft.unverified(GranuleRange.whole(0, 1))).isEmpty();
      produce(draft, GranuleRange.whole(1, 1));
      try (Block block = draft.seal(); LayerSpan span = block.span(FIRST)) {
        assertThat(span.granuleChecksums()).containsExactly(granule);
        assertThatCode(() -> span.verify("test")).doesNotThrowAnyException();
      }
    }
  }

  @Test
  void rows_withTheChecksumOfAnotherGranule_areNotVerified_andOthersStayFinal() {
    for (boolean mixed : new boolean[] {false, true}) {
      try (BlockDraft draft = draft()) {
        int wrong = granule(7, 8);
        land(draft, FIRST, wrong);
        draft.write(REST, memory -> memory.fill((byte) 9));
        assertThatThrownBy(() -> {
          if (mixed) {
            draft.produced(REST);
          } else {
            draft.verifyWithGranule(REST, wrong, "test");
          }
        }).isInstanceOfSatisfying(BlockCorruptException.class, e -> assertThat(e.key()).isEqualTo(KEY));
        assertThat(draft.unverified(GranuleRange.whole(0, 1))).isNotEmpty();
        assertThat(draft.unverified(FIRST)).containsExactly(FIRST);
        assertThat(draft.unverified(REST)).isEqualTo(mixed ? List.of() : List.of(REST));
      }
    }
  }

  @Test
  void rowsThatWereShared_stayFinal_whateverComesWithTheOthers() {
    try (BlockDraft draft = draft()) {
      produce(draft, FIRST);
      try (LayerSpan span = draft.span(FIRST)) {
        assertThatThrownBy(() -> land(draft, REST, 12345)).isInstanceOf(BlockCorruptException.class);
        assertThatThrownBy(() -> draft.write(FIRST, memory -> memory.fill((byte) 1)))
            .isInstanceOf(IllegalStateException.class);
        assertThatCode(() -> span.verify("test")).doesNotThrowAnyException();
        land(draft, REST, granule(7, 9));
        assertThat(draft.unverified(GranuleRange.whole(0, 1))).isEmpty();
      }
    }
  }

  @Test
  void rowsThatOweAComparison_getIt_howeverTheirGranuleIsCompleted() {
    try (BlockDraft draft = draft()) {
      land(draft, FIRST, 12345);
      assertThatThrownBy(() -> draft.produced(GranuleRange.whole(0, 2))).isInstanceOfSatisfying(
          BlockCorruptException.class, e -> assertThat(e.granule()).isZero());
      assertThat(draft.unverified(GranuleRange.whole(0, 2))).containsExactly(GranuleRange.whole(0, 1));
    }
  }

  @Test
  void rows_whoseGranuleIsNotVerified_haveNoChecksumOfIt() {
    try (BlockDraft draft = draft()) {
      produce(draft, FIRST);
      try (LayerSpan span = draft.span(FIRST)) {
        assertThat(span.isOfVerifiedGranules()).isFalse();
        assertThatThrownBy(span::granuleChecksums).isInstanceOf(IllegalStateException.class);
      }
    }
  }

  private static void land(BlockDraft draft, GranuleRange rows, int granule) {
    draft.write(rows, memory -> memory.fill((byte) (7 + rows.firstRow())));
    draft.verifyWithGranule(rows, granule, "test");
  }

  /// CRC of a granule whose first rows have the one value, and whose other rows the other.
  private static int granule(int first, int rest) {
    byte[] bytes = new byte[LAYOUT.granuleBytes(0)];
    Arrays.fill(bytes, 0, bytes.length / 2, (byte) first);
    Arrays.fill(bytes, bytes.length / 2, bytes.length, (byte) rest);
    return Checksum.of(MemorySegment.ofArray(bytes));
  }
}
