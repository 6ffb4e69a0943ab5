package io.penstock.testkit;

import org.openjdk.jmh.runner.NoBenchmarksException;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;

/// Runs the benchmarks of one module with JMH's own options, or the program of it that the system property `jmh.main`
/// names. A module without a matching one is no failure, for a run with `-am` passes through the modules below as well.
public final class Benchmarks {
  private Benchmarks() {}

  public static void main(String[] args)
      throws CommandLineOptionException, RunnerException, ReflectiveOperationException {
    String program = System.getProperty("jmh.main", "");
    if (!program.isEmpty()) {
      run(program, args);
      return;
    }
    if (Benchmarks.class.getResource("/META-INF/BenchmarkList") == null) {
      return;
    }
    try {
      new Runner(new CommandLineOptions(args)).run();
    } catch (NoBenchmarksException e) {
      System.err.println("no benchmark of this module matches");
    }
  }

  private static void run(String program, String[] args) throws ReflectiveOperationException {
    try {
      Class.forName(program).getMethod("main", String[].class).invoke(null, (Object) args);
    } catch (ClassNotFoundException e) {
      System.err.println("no program of this module has that name");
    }
  }
}
