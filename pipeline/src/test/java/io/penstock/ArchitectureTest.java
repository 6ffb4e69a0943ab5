package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testkit.ArchitectureRules;
import io.penstock.testkit.PublicTypes;
import io.penstock.testkit.Rooms;
import org.junit.jupiter.api.Test;

final class ArchitectureTest {
  @Test
  void everyImport_followsAnArrowOfTheHouse() {
    assertThat(ArchitectureRules.house().violationsInMain()).isEmpty();
  }

  @Test
  void thePublicTypes_areThoseListed() {
    assertThat(PublicTypes.inMain()).containsExactlyElementsOf(PublicTypes.listed());
  }

  @Test
  void theTypesForUsers_canBeLearnt() {
    assertThat(PublicTypes.forUsers()).hasSizeBetween(20, 66);
  }

  @Test
  void everyRoom_holdsThirtyTypes_andLiesInNoCycle() {
    assertThat(Rooms.violationsInMain()).isEmpty();
  }

  @Test
  void everyWingOfTheKernel_hasRooms() {
    assertThat(ArchitectureRules.emptyWings(Rooms.inMain())).isEmpty();
  }
}
