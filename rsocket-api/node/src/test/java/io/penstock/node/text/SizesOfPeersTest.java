package io.penstock.node.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Whatever size a peer's parser accepts means the same here. The cases are not part of this repository: name their
/// folder in `-Dpenstock.oracles=…`.
final class SizesOfPeersTest {
  @Test
  void parse_everySizeThatAPeerAccepts_meansTheSame() throws IOException {
    String folder = System.getProperty("penstock.oracles");
    assumeTrue(folder != null, "-Dpenstock.oracles names no folder");
    Path file = Path.of(folder, "size_parse.json");
    assumeTrue(Files.isReadable(file), "no readable file " + file);

    int accepted = 0;
    for (JsonNode one : JsonMapper.shared().readTree(file.toFile()).get("cases")) {
      if (one.has("output")) {
        assertThat(Sizes.parseBytes(one.get("input").asString())).as(one.toString())
            .isEqualTo(one.get("output").asLong());
        accepted++;
      }
    }
    assertThat(accepted).isPositive();
  }
}
