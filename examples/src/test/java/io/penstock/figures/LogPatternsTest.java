package io.penstock.figures;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.lang.model.element.Modifier;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Lines of the log are counted by their pattern, so each pattern of main code is a constant with words in it, and what
/// varies is an argument.
final class LogPatternsTest {
  private static final Path ROOT = Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();
  private static final Set<String> LEVELS = Set.of("trace", "debug", "info", "warn", "error", "log");

  @Test
  void everyPattern_isAConstant() throws IOException {
    List<JavaFileObject> sources = new ArrayList<>();
    for (Path file : SourceFiles.below(ROOT)) {
      String text = file.toString().contains("/src/main/java/") ? SourceFiles.read(file) : "";
      if (text.contains("getLogger(")) {
        sources.add(source(ROOT.relativize(file).toString(), text));
      }
    }
    Calls found = calls(sources);

    assertThat(found.wrong).as("patterns of the log that vary, or have no words").isEmpty();
    assertThat(found.count).isGreaterThan(40);
  }

  @Test
  void patternThatVaries_isFound() throws IOException {
    Calls found = calls(List.of(source("A.java", """
        class A {
          private static final org.slf4j.Logger LOG = org.slf4j.LoggerFactory.getLogger(A.class);
          static final String KNOWN = "one {}" + " more";
          String varies = "no";

          void talk(String word) {
            LOG.info("word {}", word);
            LOG.warn("word "
                + "{}", word);
            LOG.warn(KNOWN, word);
            LOG.atLevel(null).log("word {}", word);
            LOG.warn("word " + word);
            LOG.warn("word %s".formatted(word));
            LOG.warn(String.format("word %s", word));
            LOG.error(varies);
            LOG.debug("{}", word);
            LOG.atLevel(null).log(word);
            java.util.List.of(word).forEach(LOG::warn);
          }
        }
        """)));

    assertThat(found.wrong).hasSize(7);
    assertThat(found.count).isEqualTo(10);
  }

  private static JavaFileObject source(String name, String text) {
    return new SimpleJavaFileObject(URI.create("string:///" + name), JavaFileObject.Kind.SOURCE) {
      @Override
      public CharSequence getCharContent(boolean ignoreErrors) {
        return text;
      }
    };
  }

  private static Calls calls(List<JavaFileObject> sources) throws IOException {
    JavacTask task = (JavacTask) ToolProvider.getSystemJavaCompiler().getTask(null, null, found -> {},
        List.of("-proc:none"), null, sources);
    Calls calls = new Calls();
    for (CompilationUnitTree unit : task.parse()) {
      calls.begin(unit);
      new Fields(calls).scan(unit, null);
      calls.scan(unit, null);
    }
    return calls;
  }

  /// Finds the loggers and constants of a file.
  private static final class Fields extends TreeScanner<@Nullable Void, @Nullable Void> {
    private final Calls calls;

    Fields(Calls calls) {
      this.calls = calls;
    }

    @Override
    public @Nullable Void visitVariable(VariableTree variable, @Nullable Void none) {
      String name = variable.getName().toString();
      if (String.valueOf(variable.getType()).endsWith("Logger")) {
        calls.loggers.add(name);
      } else if (variable.getModifiers().getFlags().containsAll(Set.of(Modifier.STATIC, Modifier.FINAL))
          && variable.getInitializer() != null && calls.words(variable.getInitializer()) != null) {
        calls.constants.add(name);
      }
      return super.visitVariable(variable, none);
    }
  }

  /// Finds calls of loggers.
  private static final class Calls extends TreeScanner<@Nullable Void, @Nullable Void> {
    private final Set<String> loggers = new TreeSet<>();
    private final Set<String> constants = new TreeSet<>();
    private final List<String> wrong = new ArrayList<>();
    private int count;
    private String file = "";

    void begin(CompilationUnitTree unit) {
      file = unit.getSourceFile().getName();
      loggers.clear();
      constants.clear();
    }

    @Override
    public @Nullable Void visitMethodInvocation(MethodInvocationTree call, @Nullable Void none) {
      if (call.getMethodSelect() instanceof MemberSelectTree method && !call.getArguments().isEmpty()
          && LEVELS.contains(method.getIdentifier().toString()) && isLogger(method.getExpression())) {
        count++;
        String words = words(call.getArguments().getFirst());
        if (words == null || words.chars().noneMatch(Character::isLetter)) {
          wrong.add(file + ": " + call);
        }
      }
      return super.visitMethodInvocation(call, none);
    }

    @Override
    public @Nullable Void visitMemberReference(MemberReferenceTree reference, @Nullable Void none) {
      if (isLogger(reference.getQualifierExpression())) {
        wrong.add(file + ": " + reference);
      }
      return super.visitMemberReference(reference, none);
    }

    /// A logger, or what its methods return.
    private boolean isLogger(Tree tree) {
      return switch (tree) {
        case IdentifierTree name -> loggers.contains(name.getName().toString());
        case MethodInvocationTree call when call.getMethodSelect() instanceof MemberSelectTree method ->
          isLogger(method.getExpression());
        default -> false;
      };
    }

    /// Text of a constant; null if `tree` is none.
    private @Nullable String words(ExpressionTree tree) {
      return switch (tree) {
        case LiteralTree literal when literal.getValue() instanceof String text -> text;
        case BinaryTree sum when sum.getKind() == Tree.Kind.PLUS -> {
          String left = words(sum.getLeftOperand());
          String right = words(sum.getRightOperand());
          yield left == null || right == null ? null : left + right;
        }
        case IdentifierTree name when constants.contains(name.getName().toString()) -> name.getName().toString();
        default -> null;
      };
    }
  }
}
