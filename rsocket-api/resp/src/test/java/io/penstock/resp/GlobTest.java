package io.penstock.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(300)
final class GlobTest {
  @ParameterizedTest
  @CsvSource({"*, '', true", "*, abc, true", "?, '', false", "a?c, abc, true", "a*c, abbbc, true", "a*c, abcb, false",
    "h[ae]llo, hello, true", "h[ae]llo, hillo, false", "h[^e]llo, hallo, true", "h[^e]llo, hello, false",
    "h[a-c]llo, hbllo, true", "h[c-a]llo, hbllo, true", "h[a-c]llo, hdllo, false", "\\*, *, true", "\\*, a, false",
    "a\\?, a?, true", "[\\]], ], true", "[a, a, true", "[a, b, false", "a\\, a\\, true", "*a*b, xxaxxb, true",
    "**, x, true", "'', '', true", "'', a, false", "[*], *, true", "[*], a, false"})
  void pattern_takesTheNamesThatRedisTakes(String pattern, String name, boolean isTaken) {
    assertThat(Glob.of(pattern).matches(name)).isEqualTo(isTaken);
  }

  /// The names of `pattern`, which has only `*`, `?` and plain signs, up to a length, found by trial of every step.
  private static boolean tries(String pattern, String name) {
    Queue<int[]> open = new ArrayDeque<>(Collections.singleton(new int[] {0, 0}));
    Set<Integer> seen = new TreeSet<>();
    while (!open.isEmpty()) {
      int[] now = open.remove();
      if (!seen.add(now[0] * 100 + now[1])) {
        continue;
      } else if (now[0] == pattern.length()) {
        if (now[1] == name.length()) {
          return true;
        }
        continue;
      }
      char sign = pattern.charAt(now[0]);
      boolean hasMore = now[1] < name.length();
      if (sign == '*') {
        open.add(new int[] {now[0] + 1, now[1]});
        if (hasMore) {
          open.add(new int[] {now[0], now[1] + 1});
        }
      } else if (hasMore && (sign == '?' || sign == name.charAt(now[1]))) {
        open.add(new int[] {now[0] + 1, now[1] + 1});
      }
    }
    return false;
  }

  private static String text(Random random, String signs, int most) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(most); i > 0; i--) {
      text.append(signs.charAt(random.nextInt(signs.length())));
    }
    return text.toString();
  }

  @Test
  void patterns_takeTheNamesThatATrialOfEveryStepTakes() {
    Random random = new Random(5);
    int taken = 0;
    for (int i = 0; i < 20_000; i++) {
      String pattern = text(random, "ab*?*", 8);
      String name = text(random, "ab", 10);
      boolean expected = tries(pattern, name);
      taken += expected ? 1 : 0;
      assertThat(Glob.of(pattern).matches(name)).as(pattern + " for " + name).isEqualTo(expected);
    }
    assertThat(taken).isBetween(2_000, 18_000);
  }

  @Test
  void patternOfManyStars_takesNoTimeWithoutEnd() {
    assertThat(Glob.of("*a".repeat(500) + "b").matches("a".repeat(60_000))).isFalse();
    assertThatThrownBy(() -> Glob.of("*".repeat(1_025))).hasMessageContaining("pattern must have at most 1024 bytes");
  }
}
