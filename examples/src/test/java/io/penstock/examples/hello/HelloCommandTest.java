package io.penstock.examples.hello;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.examples.ConsoleCapture;
import io.penstock.examples.Examples;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class HelloCommandTest {
  @Test
  void hello_getsBackWhatItPut() {
    ConsoleCapture capture = new ConsoleCapture();

    assertThat(Examples.run(new String[] {"hello"}, capture.console())).as(capture.err()).isZero();

    assertThat(capture.out()).isEqualTo("hello: 32 tokens offloaded and loaded again, every byte equal\n");
  }
}
