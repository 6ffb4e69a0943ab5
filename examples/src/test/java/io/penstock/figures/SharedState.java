package io.penstock.figures;

import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.CompoundAssignmentTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.UnaryTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.NestingKind;
import javax.lang.model.element.TypeElement;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/// Which top-level classes of a package have fields that other classes assign, and which classes those are. The JDK's
/// compiler reads the sources; types of libraries that it does not find are left unresolved.
final class SharedState {
  private SharedState() {}

  /// For each class of `packageName` below `sources` with fields that are neither private nor final, the other classes
  /// that assign one.
  static Map<String, Set<String>> writers(Path sources, String packageName) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(found -> {}, null, null);
        Stream<Path> paths = Files.walk(sources)) {
      List<Path> java = paths.filter(path -> path.toString().endsWith(".java")).toList();
      JavacTask task = (JavacTask) compiler.getTask(null, files, found -> {}, List.of("-proc:none", "-cp", libraries()),
          null, files.getJavaFileObjectsFromPaths(java));
      List<CompilationUnitTree> units = new ArrayList<>();
      task.parse().forEach(units::add);
      task.analyze();
      Writes writes = new Writes(Trees.instance(task), packageName);
      units.forEach(unit -> writes.scan(unit, null));
      return writes.writers;
    }
  }

  /// The jars that the kernel needs, as far as Maven keeps them here.
  private static String libraries() throws IOException {
    Path kept = Path.of(System.getProperty("user.home"), ".m2/repository");
    if (!Files.isDirectory(kept)) {
      return "";
    }
    try (Stream<Path> paths = Files.walk(kept)) {
      return paths.map(Path::toString)
          .filter(jar -> jar.matches(
              ".*/(reactor-core|reactive-streams|jspecify|micrometer-core|error_prone_annotations)-[\\d.]+\\.jar"))
          .collect(Collectors.joining(":"));
    }
  }

  private static final class Writes extends TreePathScanner<Void, Void> {
    private final Trees trees;
    private final String packageName;
    private final Map<String, Set<String>> writers = new TreeMap<>();

    Writes(Trees trees, String packageName) {
      this.trees = trees;
      this.packageName = packageName;
    }

    @Override
    public Void visitVariable(VariableTree tree, Void none) {
      Element field = trees.getElement(getCurrentPath());
      if (isShared(field)) {
        writers.computeIfAbsent(outermost(field), name -> new TreeSet<>());
      }
      return super.visitVariable(tree, none);
    }

    @Override
    public Void visitAssignment(AssignmentTree tree, Void none) {
      written(tree.getVariable());
      return super.visitAssignment(tree, none);
    }

    @Override
    public Void visitCompoundAssignment(CompoundAssignmentTree tree, Void none) {
      written(tree.getVariable());
      return super.visitCompoundAssignment(tree, none);
    }

    @Override
    public Void visitUnary(UnaryTree tree, Void none) {
      switch (tree.getKind()) {
        case PREFIX_INCREMENT, PREFIX_DECREMENT, POSTFIX_INCREMENT, POSTFIX_DECREMENT -> written(tree.getExpression());
        default -> {
        }
      }
      return super.visitUnary(tree, none);
    }

    private void written(ExpressionTree variable) {
      Element field = trees.getElement(new TreePath(getCurrentPath(), variable));
      if (isShared(field)) {
        String writer = outermost(trees.getElement(classAround()));
        String owner = outermost(field);
        if (!writer.equals(owner)) {
          writers.computeIfAbsent(owner, name -> new TreeSet<>()).add(writer);
        }
      }
    }

    private TreePath classAround() {
      TreePath path = getCurrentPath();
      while (!(path.getLeaf() instanceof ClassTree)) {
        path = path.getParentPath();
      }
      return path;
    }

    private boolean isShared(Element field) {
      return field != null && field.getKind() == ElementKind.FIELD
          && !field.getModifiers().contains(Modifier.PRIVATE) && !field.getModifiers().contains(Modifier.FINAL)
          && typeOf(field).getQualifiedName().toString().startsWith(packageName + ".");
    }

    private static String outermost(Element element) {
      return typeOf(element).getSimpleName().toString();
    }

    private static TypeElement typeOf(Element element) {
      Element type = element;
      while (!(type instanceof TypeElement top && top.getNestingKind() == NestingKind.TOP_LEVEL)) {
        type = type.getEnclosingElement();
      }
      return (TypeElement) type;
    }
  }
}
