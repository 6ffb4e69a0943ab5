package io.penstock.storage.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.storage.engine.Location;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class LocationTableTest {
  private static final int BYTES = 88;
  private static final int SEGMENTS = 6;

  @Test
  void operationsAtRandom_leaveEachBlockWhereItWasPutLast() {
    for (int seed = 0; seed < 100; seed++) {
      Random random = new Random(seed);
      LocationTable table = new LocationTable(BYTES);
      Map<Integer, RecordLocation> model = new TreeMap<>();
      long sequence = 0;
      for (int i = 0; i < 2_000; i++) {
        sequence += random.nextInt(10) == 0 ? 3L << 30 : 1 + random.nextInt(3);
        RecordLocation fresh = location(1 + random.nextInt(SEGMENTS), sequence, random);
        Integer any = model.isEmpty() ? null : List.copyOf(model.keySet()).get(random.nextInt(model.size()));
        switch (any == null ? 0 : random.nextInt(5)) {
          case 0, 1 ->
            assertThat(model.put(table.add(fresh), fresh)).as("seed %d: a number is one owner's", seed).isNull();
          case 2 -> {
            assertThat(table.move(any, model.get(any), fresh)).as("seed %d", seed).isTrue();
            model.put(any, fresh);
          }
          case 3 -> assertThat(table.move(any, fresh, fresh)).as("seed %d: it is not there", seed).isFalse();
          default -> assertThat(table.release(any)).as("seed %d", seed).isEqualTo(model.remove(any));
        }
      }
      assertThat(table.size()).as("seed %d", seed).isEqualTo(model.size());
      model.forEach((number, location) -> assertThat(table.location(number)).isEqualTo(location));
      for (int segment = 1; segment <= SEGMENTS; segment++) {
        assertThat(drained(table, segment)).as("seed %d, segment %d", seed, segment)
            .isEqualTo(numbersIn(model, segment));
        table.forget(segment);
      }
      assertThat(table.size()).as("seed %d", seed).isZero();
    }
  }

  private static RecordLocation location(int segment, long sequence, Random random) {
    long offset = 4L * Integer.toUnsignedLong(random.nextInt());
    return new RecordLocation(new Location(segment, offset, BYTES), sequence, random.nextInt());
  }

  private static Set<Integer> drained(LocationTable table, int segment) {
    Set<Integer> numbers = new HashSet<>();
    for (int next = table.first(segment); next != LocationTable.NONE; next = table.first(segment)) {
      assertThat(table.locationIn(segment, next)).isNotNull();
      table.release(next);
      numbers.add(next);
    }
    return numbers;
  }

  private static Set<Integer> numbersIn(Map<Integer, RecordLocation> model, int segment) {
    Set<Integer> numbers = new HashSet<>();
    model.forEach((number, location) -> {
      if (location.segment() == segment) {
        numbers.add(number);
      }
    });
    return numbers;
  }

  @Test
  void lostBlock_hasNoLocation_andItsNumberComesBackOnce() {
    LocationTable table = new LocationTable(BYTES);
    RecordLocation location = location(1, 7, new Random(1));
    int number = table.add(location);
    assertThat(table.lose(number, location, new CrcMismatch("here", 0, 1, 2)::of)).isTrue();
    assertThat(table.first(1)).isEqualTo(LocationTable.NONE);
    assertThat(table.locationIn(1, number)).isNull();
    assertThat(table.release(number)).isNull();
    assertThat(table.add(location)).isEqualTo(number);
    assertThat(table.locationIn(1, number)).isEqualTo(location);
  }

  @Test
  void releasedNumber_isNowhere_evenIfItIsTakenAgainElsewhere() {
    LocationTable table = new LocationTable(BYTES);
    RecordLocation first = location(1, 1, new Random(1));
    RecordLocation second = location(2, 2, new Random(2));
    int number = table.add(first);
    table.release(number);
    assertThat(table.locationIn(1, number)).isNull();
    assertThat(table.move(number, first, second)).isFalse();
    assertThat(table.add(second)).isEqualTo(number);
    assertThat(table.move(number, first, second)).isFalse();
    assertThat(table.locationIn(1, number)).isNull();
    assertThat(table.location(number)).isEqualTo(second);
  }

  @Test
  void place_thatDoesNotFit_isRefused() {
    LocationTable table = new LocationTable(BYTES);
    List<Location> wrong = new ArrayList<>(
        List.of(new Location(1, 0, BYTES + 8), new Location(1, 2, BYTES), new Location(1, 16L << 30, BYTES)));
    for (Location each : wrong) {
      assertThat(table.fits(each)).isFalse();
      assertThatThrownBy(() -> table.add(new RecordLocation(each, 1, 1))).isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(table.size()).isZero();
  }
}
