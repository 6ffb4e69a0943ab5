package io.penstock.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testkit.ArchitectureRules;
import io.penstock.testkit.Rooms;
import org.junit.jupiter.api.Test;

final class ArchitectureTest {
  @Test
  void everyImport_followsAnArrowOfTheHouse() {
    assertThat(ArchitectureRules.house().violationsInMain()).isEmpty();
  }

  @Test
  void everyRoom_holdsThirtyTypes_andLiesInNoCycle() {
    assertThat(Rooms.violationsInMain()).isEmpty();
  }
}
