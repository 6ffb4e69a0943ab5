package io.penstock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class PenstockVersionTest {
  @Test
  void current_isTheRevisionOfTheBuild() {
    assertEquals(System.getProperty("penstock.revision"), PenstockVersion.current());
  }
}
