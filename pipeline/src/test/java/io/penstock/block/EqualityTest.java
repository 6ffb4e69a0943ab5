package io.penstock.block;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/// Records that compare by hand do so by every component.
final class EqualityTest {
  /// Each is unequal to all others.
  private static void areApart(List<?> first, List<?> again) {
    for (int i = 0; i < first.size(); i++) {
      for (int j = 0; j < again.size(); j++) {
        assertThat(first.get(i).equals(again.get(j))).as("%s and %s", first.get(i), again.get(j)).isEqualTo(i == j);
      }
      assertThat(first.get(i)).hasSameHashCodeAs(again.get(i)).isNotEqualTo(null).isNotEqualTo("another type");
    }
  }

  private static List<SpaceId> spaces() {
    return List.of(new SpaceId(1, 2), new SpaceId(1, 3), new SpaceId(2, 2), new SpaceId(2, 1));
  }

  private static List<BlockHash> hashes() {
    return List.of(new BlockHash(1, 2), new BlockHash(1, 3), new BlockHash(2, 2), new BlockHash(2, 1));
  }

  private static List<BlockKey> keys() {
    return spaces().stream().flatMap(space -> hashes().stream().map(hash -> new BlockKey(space, hash))).toList();
  }

  private static List<GranuleRange> ranges() {
    return List.of(GranuleRange.whole(0, 1), GranuleRange.whole(1, 1), GranuleRange.whole(0, 2),
        GranuleRange.rows(0, 0, 1), GranuleRange.rows(0, 1, 1), GranuleRange.rows(0, 0, 2), GranuleRange.rows(1, 0, 1));
  }

  @Test
  void spacesHashesKeysAndRanges_areEqual_ifEveryPartIs() {
    areApart(spaces(), spaces());
    areApart(hashes(), hashes());
    areApart(keys(), keys());
    areApart(ranges(), ranges());
  }
}
