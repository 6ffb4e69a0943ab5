package io.penstock.wire.transport.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FrameRoomTest {
  private final List<String> granted = new ArrayList<>();
  private final FrameRoom room = new FrameRoom(1_000);

  private FrameRoom.Place place(String name) {
    return new FrameRoom.Place(() -> granted.add(name));
  }

  @Test
  void take_ofMoreThanHalfOfWhatIsFree_waits() {
    assertThat(room.take(place("a"), 500)).isTrue();
    assertThat(room.take(place("b"), 251)).isFalse();
    assertThat(room.take(place("c"), 250)).isTrue(); // a shorter one passes
    assertThat(room.taken()).isEqualTo(750);
    assertThat(room.waiting()).isEqualTo(1);
  }

  @Test
  void longFrames_howeverMany_leaveRoomForShortOnes() {
    for (int i = 0; i < 200; i++) {
      room.take(place("greedy " + i), 300);
    }
    assertThat(room.taken()).isEqualTo(600);
    assertThat(room.take(place("short"), 100)).isTrue();
  }

  @Test
  void giveBack_grantsThoseThatFit_inTheirOrder() {
    FrameRoom.Place first = place("first");
    room.take(first, 500);
    room.take(place("long"), 400);
    room.take(place("short"), 260);
    room.take(place("shorter"), 255);

    room.giveBack(first);
    room.giveBack(first);

    assertThat(granted).containsExactly("long", "short"); // 1000 -> 600 -> 340: the half of it is too little
    assertThat(room.taken()).isEqualTo(660);
  }

  @Test
  void giveBack_ofOneThatWaits_takesItFromTheQueue() {
    FrameRoom.Place waits = place("waits");
    room.take(place("a"), 500);
    room.take(waits, 400);

    room.giveBack(waits);

    assertThat(room.waiting()).isZero();
    assertThat(room.taken()).isEqualTo(500);
    assertThat(granted).isEmpty();
  }

  @Test
  void mustMakeWay_onlyAsManyAsTheFirstThatWaitsNeeds() {
    FrameRoom.Place a = place("a");
    FrameRoom.Place b = place("b");
    FrameRoom.Place c = place("c");
    room.take(a, 500);
    room.take(b, 250);
    room.take(c, 125);
    assertThat(room.mustMakeWay(a)).isFalse(); // none waits
    FrameRoom.Place waits = place("waits");
    room.take(waits, 150);

    assertThat(room.mustMakeWay(waits)).isFalse();
    assertThat(room.mustMakeWay(b)).isTrue();
    assertThat(room.mustMakeWay(a)).isFalse(); // 125 + 250 will be free
    assertThat(room.mustMakeWay(b)).isFalse();
    room.giveBack(b);

    assertThat(granted).containsExactly("waits");
    assertThat(room.taken()).isEqualTo(500 + 125 + 150);
  }

  @Test
  void anyOrder_takesNoMoreThanThereIs_andEndsAtZero() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      FrameRoom any = new FrameRoom(1_000);
      List<FrameRoom.Place> places = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        if (random.nextInt(3) > 0) {
          FrameRoom.Place place = new FrameRoom.Place(() -> {});
          places.add(place);
          any.take(place, 1 + random.nextInt(500));
        } else if (!places.isEmpty()) {
          FrameRoom.Place place = places.remove(random.nextInt(places.size()));
          any.mustMakeWay(place);
          any.giveBack(place);
        }
        assertThat(any.taken()).as("seed %d", seed).isBetween(0L, 1_000L);
      }
      places.forEach(any::giveBack);
      assertThat(any.taken()).as("seed %d", seed).isZero();
      assertThat(any.waiting()).as("seed %d", seed).isZero();
    }
  }
}
