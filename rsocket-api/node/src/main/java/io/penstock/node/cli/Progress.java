package io.penstock.node.cli;

import io.penstock.node.text.Numbers;
import io.penstock.node.text.Terminal;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/// Shows the progress of long work, with its rate and the time left: a bar on a terminal, elsewhere a line about every
/// ten seconds. If a signal ends the process first, it prints a line with the progress, and the result so far if one
/// was given. One thread at a time.
public final class Progress implements AutoCloseable {
  /// Width of a bar, which leaves the last column of 80 free.
  public static final int COLUMNS = Terminal.COLUMNS - 1;

  static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int REDRAW_MILLIS = 200;

  private final Console console;
  private final String task;
  private final String unit;
  private final long unitSize;
  private final LongSupplier nanoClock;
  private final long began;
  private final @Nullable ProgressBar bar;
  private final LastWord lastWord;
  private volatile Counts counts = new Counts(0, 0);
  private volatile String soFar = "";
  private volatile @Nullable String resultSoFar;
  private long said;

  private record Counts(long done, long all) {}

  private Progress(Console console, String task, String unit, long unitSize, LongSupplier nanoClock) {
    this.console = console;
    this.task = task;
    this.unit = unit;
    this.unitSize = unitSize;
    this.nanoClock = nanoClock;
    this.began = nanoClock.getAsLong();
    this.said = began;
    this.bar = console.isTerminal() ? bar() : null;
    this.lastWord = new LastWord(console, this::interrupted, () -> resultSoFar);
  }

  /// Progress of work that counts `unit`s, such as `blocks`.
  public static Progress of(Console console, String task, String unit) {
    return of(console, task, unit, 1);
  }

  /// @param unitSize number of counts in one `unit`
  public static Progress of(Console console, String task, String unit, long unitSize) {
    return of(console, task, unit, unitSize, System::nanoTime);
  }

  static Progress of(Console console, String task, String unit, long unitSize, LongSupplier nanoClock) {
    return new Progress(console, task, unit, unitSize, nanoClock);
  }

  private ProgressBar bar() {
    return new ProgressBarBuilder().setTaskName(task).setUnit(" " + unit, unitSize).showSpeed()
        .setStyle(ProgressBarStyle.ASCII)
        .setUpdateIntervalMillis(REDRAW_MILLIS).setConsumer(new ConsoleProgressBarConsumer(console.err(), COLUMNS))
        .build();
  }

  /// Names the next step, in a few words: beside the bar, or on a line at once.
  public void next(String what) {
    if (bar == null) {
      console.say(task + ": " + what);
    } else {
      bar.setExtraMessage(" " + what);
    }
  }

  /// `done` of `all` are behind us.
  public void at(long done, long all) {
    counts = new Counts(done, all);
    if (bar != null) {
      bar.maxHint(all);
      bar.stepTo(done);
      return;
    }
    long now = nanoClock.getAsLong();
    if (now - said >= EVERY_NANOS) {
      said = now;
      console.say(line(done, all, (now - began) / 1e9));
    }
  }

  /// Sets a few words to print if a signal ends the process from now on.
  public void soFar(String words) {
    soFar = words;
  }

  /// Sets the result to print as JSON, with a field `interrupted`, if a signal ends the process from now on.
  ///
  /// @param result as [Console#json] takes it, in its present state
  public void resultSoFar(Object result) {
    resultSoFar = Console.interrupted(result);
  }

  private String line(long done, long all, double seconds) {
    double rate = done / seconds;
    String left = done == 0 ? "" : ", " + time(Math.round((all - done) / rate)) + " left";
    return String.format(Locale.ROOT, "%s: %s of %s %s, %s a second%s", task, Numbers.of(done / unitSize),
        Numbers.of(all / unitSize), unit, figure(rate / unitSize), left);
  }

  String interrupted() {
    Counts last = counts;
    return last.done() == 0
        ? task + ": interrupted before anything was done"
        : "%s: interrupted after %s of %s %s%s".formatted(task, Numbers.of(last.done() / unitSize),
            Numbers.of(last.all() / unitSize), unit,
            soFar.isEmpty() ? "" : ", " + soFar);
  }

  private static String figure(double rate) {
    return String.format(Locale.ROOT, rate >= 100 ? "%,.0f" : "%.2f", rate);
  }

  /// `seconds` in words: `1 min 5 s`.
  public static String time(long seconds) {
    return seconds < 60
        ? seconds + " s"
        : seconds < 3600
            ? "%d min %d s".formatted(seconds / 60, seconds % 60)
            : "%d h %d min".formatted(seconds / 3600, seconds % 3600 / 60);
  }

  @Override
  public void close() {
    lastWord.close();
    if (bar != null) {
      bar.close();
    }
  }
}
