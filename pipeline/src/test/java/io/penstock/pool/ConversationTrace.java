package io.penstock.pool;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The block references of a public trace of conversations, if it is at hand: see this module's README.
final class ConversationTrace {
  private static final Pattern HASH_IDS = Pattern.compile("\"hash_ids\"\\s*:\\s*\\[([^]]*)]");

  private static long @Nullable [] ids;

  private ConversationTrace() {}

  /// The references in order. Without the trace, the test is skipped and says so.
  static synchronized List<BlockKey> references(SpaceId space) {
    if (ids == null) {
      Path file = Path.of(System.getProperty("penstock.trace", nearby()));
      assumeTrue(Files.isReadable(file), "the conversation trace is not at hand: -Dpenstock.trace=FILE names it");
      ids = read(file);
    }
    return Arrays.stream(ids).mapToObj(id -> new BlockKey(space, new BlockHash(0, id))).toList();
  }

  private static long[] read(Path file) {
    try (Stream<String> lines = Files.lines(file)) {
      return lines.map(HASH_IDS::matcher).filter(Matcher::find).map(ids -> ids.group(1)).filter(ids -> !ids.isBlank())
          .flatMap(ids -> Arrays.stream(ids.split(","))).mapToLong(id -> Long.parseLong(id.strip())).toArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Beside the checkout, whichever folder of it the test runs in.
  private static String nearby() {
    return Stream.of("../shared", "../../shared").map(folder -> Path.of(folder, "traces", "conversation_trace.jsonl"))
        .filter(Files::isReadable).findFirst().map(Path::toString).orElse("conversation_trace.jsonl");
  }
}
