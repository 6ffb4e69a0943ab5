package io.penstock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ExamplesTest {
  private final List<String> seen = new ArrayList<>();
  private final List<Story> stories =
      List.of(new Story("hello", "put and get one block", args -> Collections.addAll(seen, args)));
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void knownName_runsItWithTheOtherArguments() throws Exception {
    assertThat(run("hello", "a", "b")).isZero();
    assertThat(seen).containsExactly("a", "b");
  }

  @Test
  void unknownName_isMisuseAndListsWhatThereIs() throws Exception {
    assertThat(run("helo")).isEqualTo(2);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("(was helo)", "hello", "put and get one block");
    assertThat(out.size()).isZero();
  }

  @Test
  void noName_listsOnStandardOutput() throws Exception {
    assertThat(run()).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8)).contains("hello");
  }

  private int run(String... args) throws Exception {
    return Examples.run(
        stories, args, new PrintStream(out, true, StandardCharsets.UTF_8), new PrintStream(err, true, StandardCharsets.UTF_8));
  }
}
