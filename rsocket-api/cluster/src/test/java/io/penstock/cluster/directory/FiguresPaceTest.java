package io.penstock.cluster.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.wire.cluster.Member.Figures;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class FiguresPaceTest {
  private static final long CAPACITY = 1000;
  private static final int FEW = 3;
  private final FiguresPace pace = new FiguresPace();

  @Test
  void firstFigures_areTold() {
    assertThat(pace.isDue(Figures.NONE, FEW, 0)).isTrue();
  }

  @Test
  void smallChanges_areToldAfterTenWaits() {
    pace.told(new Figures(500, CAPACITY, 50), 0);

    assertThat(pace.isDue(new Figures(509, CAPACITY, 59), FEW, seconds(9))).isFalse();
    assertThat(pace.isDue(new Figures(509, CAPACITY, 59), FEW, seconds(10))).isTrue();
  }

  @Test
  void largeChanges_areTold() {
    pace.told(new Figures(500, CAPACITY, 50), 0);

    assertThat(Stream.of(new Figures(510, CAPACITY, 50), new Figures(490, CAPACITY, 50),
        new Figures(500, CAPACITY, 60), new Figures(500, CAPACITY, 40), new Figures(500, CAPACITY, 0),
        new Figures(500, CAPACITY + 1, 50))).allMatch(now -> pace.isDue(now, FEW, seconds(1)));
  }

  @Test
  void oneThatBecomesBusy_isTold() {
    pace.told(new Figures(500, CAPACITY, 0), 0);

    assertThat(pace.isDue(new Figures(500, CAPACITY, 1), FEW, seconds(1))).isTrue();
  }

  @Test
  void largeChange_waitsForItsTurn_whichComesLaterWithMoreMembers() {
    pace.told(new Figures(0, CAPACITY, 0), 0);
    Figures now = new Figures(CAPACITY, CAPACITY, 0);

    assertThat(pace.isDue(now, 32, seconds(1) - 1)).isFalse();
    assertThat(pace.isDue(now, 32, seconds(1))).isTrue();
    assertThat(pace.isDue(now, 100, seconds(9))).isFalse();
    assertThat(pace.isDue(now, 100, seconds(10))).isTrue();
    assertThat(pace.isDue(now, 1000, seconds(990))).isFalse();
    assertThat(pace.isDue(now, 1000, seconds(999))).isTrue();
  }

  @Test
  void membersWhoseFiguresAlwaysChange_sendABoundedNumberOfMessages_howeverManyTheyAre() {
    for (int members : new int[] {2, 10, 32, 33, 100, 300}) {
      SplittableRandom random = new SplittableRandom(members);
      FiguresPace[] all = new FiguresPace[members];
      Arrays.setAll(all, i -> new FiguresPace());
      Arrays.stream(all).forEach(each -> each.told(Figures.NONE, 0));
      long ticks = 10 * FiguresPace.waitOf(members).toSeconds();
      long messages = 0;
      for (long tick = 1; tick <= ticks; tick++) {
        for (FiguresPace each : all) {
          Figures now = new Figures(random.nextLong(CAPACITY), CAPACITY, random.nextLong(2) * CAPACITY);
          if (each.isDue(now, members, seconds(tick))) {
            each.told(now, seconds(tick));
            messages += members - 1;
          }
        }
      }
      assertThat(messages / ticks).as("a second, of %d members", members)
          .isBetween(messages == 0 ? 1 : 0L, FiguresPace.MOST_MESSAGES);
    }
  }

  private static long seconds(long count) {
    return Duration.ofSeconds(count).toNanos();
  }
}
