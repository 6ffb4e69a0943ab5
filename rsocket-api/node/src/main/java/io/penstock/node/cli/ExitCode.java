package io.penstock.node.cli;

import java.util.LinkedHashMap;
import java.util.Map;

/// The exit codes of every command, and of the launcher before it. Codes from 64 on follow `sysexits.h`.
public final class ExitCode {
  public static final int OK = 0;
  public static final int FOUND_FAILURE = 1;
  public static final int USAGE = 2;
  public static final int NOT_AS_REQUIRED = 3;
  public static final int DATA = 65;
  public static final int UNAVAILABLE = 69;
  public static final int INTERNAL = 70;
  public static final int INPUT_OUTPUT = 74;
  public static final int REFUSED = 77;

  private ExitCode() {}

  /// Meaning of each code, in the order of the numbers: the help and docs/operating.md agree with it.
  public static Map<String, String> meanings() {
    Map<String, String> meanings = new LinkedHashMap<>();
    meanings.put("" + OK, "done");
    meanings.put("" + FOUND_FAILURE,
        "done, and something is wrong: a mismatch, a missing block, a check or a target that was missed");
    meanings.put("" + USAGE, "the command line or configuration makes no sense");
    meanings.put("" + NOT_AS_REQUIRED, "a block of a put has less than --require at the end");
    meanings.put("" + DATA, "a file that was to be read is not of its form, such as a trace");
    meanings.put("" + UNAVAILABLE,
        "the node cannot serve this: not listening, gone, draining or silent, or it has no registry, is in no"
            + " cluster or is no prefill rank. Also: no device library, no engine of clusters, no memory of the kind"
            + " asked for, or no JDK");
    meanings.put("" + INTERNAL, "a mistake in Penstock itself, or its build failed");
    meanings.put("" + INPUT_OUTPUT, "a file, folder, port or stream cannot be used, or another process has it");
    meanings.put("" + REFUSED, "the node refused it: it takes no such credentials, or the user may not do that");
    meanings.put("130, 143", "ended by SIGINT or SIGTERM; a node drains at the first, and ends so at the second");
    return meanings;
  }
}
