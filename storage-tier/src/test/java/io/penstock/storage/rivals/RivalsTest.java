package io.penstock.storage.rivals;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The program runs and tells; what it tells is not judged here, for the rounds are too short.
@Timeout(value = 2, unit = TimeUnit.MINUTES)
final class RivalsTest {
  @Test
  void everyComparison_ofFewBlocks_namesItsRivalsAndTheirRatios(@TempDir Path folder) throws IOException {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    Path file = folder.resolve("rivals.json");

    int code = Rivals.run(new PrintStream(text, true, StandardCharsets.UTF_8), "--sizes", "64", "--mib", "8",
        "--rounds", "1", "--warm", "0",
        "--dir", folder.resolve("files").toString(), "--json", file.toString());

    assertThat(code).isZero();
    assertThat(text.toString(StandardCharsets.UTF_8)).contains("append always", "read cached", "read cold", "rocksdb");
    JsonNode all = JsonMapper.shared().readTree(file.toFile());
    assertThat(all.get("comparisons")).hasSize(5);
    assertThat(all.get("ratios").findValues("ratio")).hasSizeGreaterThan(10).allMatch(ratio -> ratio.asDouble() > 0);
  }
}
