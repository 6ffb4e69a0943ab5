package io.penstock.examples.stream;

import io.penstock.node.cli.Console;
import io.penstock.node.text.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/// Shows a run on standard error: a chart that is drawn again and again on a terminal, else a line a
/// second.
final class StreamView implements Consumer<Sample> {
  private static final int WIDTH = 60;
  private static final int HEIGHT = 6;

  private final Console console;
  private final long boundBytes;
  private final Chart chart = new Chart(WIDTH, HEIGHT);
  private final List<Long> held = new ArrayList<>();
  private int drawn;
  private double nextLine;

  StreamView(Console console, long boundBytes) {
    this.console = console;
    this.boundBytes = boundBytes;
  }

  @Override
  public synchronized void accept(Sample sample) {
    held.add(sample.heldBytes());
    if (console.isTerminal()) {
      draw(sample);
    } else if (sample.seconds() >= nextLine) {
      console.say(line(sample));
      nextLine = Math.floor(sample.seconds()) + 1;
    }
  }

  private void draw(Sample sample) {
    List<String> lines = new ArrayList<>(chart.draw(held, boundBytes));
    lines.add(line(sample));
    StringBuilder screen = new StringBuilder();
    if (drawn > 0) {
      screen.append("\u001b[").append(drawn).append('A');
    }
    lines.forEach(line -> screen.append("\u001b[2K").append(line).append('\n'));
    console.err().print(screen);
    console.err().flush();
    drawn = lines.size();
  }

  private static String line(Sample sample) {
    return String.format(Locale.ROOT, "%5.1f s  made %s, read %s, held %s, in flight %s", sample.seconds(),
        Sizes.human(sample.madeBytes()),
        Sizes.human(sample.readBytes()), Sizes.human(sample.heldBytes()), Sizes.human(sample.inFlightBytes()));
  }
}
