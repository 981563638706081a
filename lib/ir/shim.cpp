// Adapts MLIR features that its C API lacks: passes with textual options and statistics from a C
// table, pipelines inside of a pass, warnings, remarks and notes, hints in the errors of the
// parser, comparison of ops by properties, attribute dictionaries, whole shapes, the previous op,
// the bytes of resources, dialects of other projects, MLIR's opt driver, and the plug-in entry.
// With upstream.h it is the only C++ of the library; it makes no decisions of its own.
#include "ir/diagnostics.h"
#include "ir/op_equivalence.h"
#include "ir/parse_hints.h"
#include "ir/pass.h"
#include "ir/run_hooks.h"
#include "ir/run_watch.h"
#include "ir/upstream.h"
#include "support/support.h"

#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/Bufferization.h"
#include "mlir-c/Dialect/ControlFlow.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/Index.h"
#include "mlir-c/Dialect/Linalg.h"
#include "mlir-c/Dialect/LLVM.h"
#include "mlir-c/Dialect/Math.h"
#include "mlir-c/Dialect/MemRef.h"
#include "mlir-c/Dialect/NVVM.h"
#include "mlir-c/Dialect/SCF.h"
#include "mlir-c/Dialect/Shard.h"
#include "mlir-c/Dialect/Tensor.h"
#include "mlir-c/Dialect/Tosa.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

#include "llvm/Support/Signals.h"

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>

using namespace mlir;

namespace {

/// The dialects of which our passes create ops. `isPrepared`: tp_context_prepare loads it. They are
/// handles of the C API, because the headers of their classes take a minute to compile.
constexpr struct {
  MlirDialectHandle (*handle)();
  bool isPrepared;
} createdDialects[] = {
    {mlirGetDialectHandle__arith__, true},  {mlirGetDialectHandle__bufferization__, true},
    {mlirGetDialectHandle__cf__, true},     {mlirGetDialectHandle__func__, true},
    {mlirGetDialectHandle__index__, false}, {mlirGetDialectHandle__linalg__, true},
    {mlirGetDialectHandle__llvm__, true},   {mlirGetDialectHandle__math__, true},
    {mlirGetDialectHandle__memref__, true}, {mlirGetDialectHandle__nvvm__, true},
    {mlirGetDialectHandle__scf__, true},    {mlirGetDialectHandle__shard__, true},
    {mlirGetDialectHandle__tensor__, true}, {mlirGetDialectHandle__tosa__, false},
};

void addDialects(DialectRegistry &registry) {
  for (auto &dialect : createdDialects)
    mlirDialectHandleInsertDialect(dialect.handle(), wrap(&registry));
}

/// The errors about forms of foreign dialects that only their projects can read.
constexpr const char *genericForm =
    "; print the module in generic form, with get_asm(print_generic_op_form=True) of "
    "lowered.compiler_ir(\"stablehlo\").operation in JAX, of module.operation in torch-mlir";
constexpr const char *foreignBytecode =
    "the file is bytecode of StableHLO, such as a portable artifact, which only StableHLO reads; "
    "give generic text, in JAX of jaxlib.mlir.dialects.stablehlo.deserialize_portable_artifact("
    "context, bytes) with operation.get_asm(print_generic_op_form=True)";

/// Refuses bytecode of a foreign dialect, whose attributes have an encoding of its own.
class ForeignBytecode : public BytecodeDialectInterface {
public:
  explicit ForeignBytecode(Dialect *owner) : BytecodeDialectInterface(owner) {}

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    reader.emitError() << foreignBytecode;
    return {};
  }
  Type readType(DialectBytecodeReader &reader) const override {
    reader.emitError() << foreignBytecode;
    return {};
  }
  std::unique_ptr<DialectVersion> readVersion(DialectBytecodeReader &reader) const override {
    reader.emitError() << foreignBytecode;
    return nullptr;
  }
};

/// A dialect of other projects: its ops are not registered, its attributes and types are opaque
/// texts. The context knows that it exists: else MLIR takes an op with one region for a possible
/// symbol table, and a call inside of it names no function.
class ForeignDialect : public Dialect {
public:
  ForeignDialect(StringRef text, MLIRContext *owner, TypeID id) : Dialect(text, owner, id) {
    allowUnknownOperations();
    allowUnknownTypes();
    addInterfaces<ForeignBytecode>();
  }

  Attribute parseAttribute(DialectAsmParser &parser, Type type) const override {
    return OpaqueAttr::getChecked([&] { return parser.emitError(parser.getNameLoc()); },
                                  StringAttr::get(getContext(), getNamespace()),
                                  parser.getFullSymbolSpec(),
                                  type ? type : NoneType::get(getContext()));
  }
  Type parseType(DialectAsmParser &parser) const override {
    return OpaqueType::getChecked([&] { return parser.emitError(parser.getNameLoc()); },
                                  StringAttr::get(getContext(), getNamespace()),
                                  parser.getFullSymbolSpec());
  }
  std::optional<ParseOpHook> getParseOperationHook(StringRef) const override {
    return [](OpAsmParser &parser, OperationState &) -> ParseResult {
      return parser.emitError(parser.getNameLoc())
             << "is in the pretty form of its dialect" << genericForm;
    };
  }
};

#define FOREIGN(Name, text)                                                                        \
  class Name : public ForeignDialect {                                                             \
  public:                                                                                          \
    MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Name)                                             \
    explicit Name(MLIRContext *owner) : ForeignDialect(text, owner, TypeID::get<Name>()) {}        \
    static constexpr StringLiteral getDialectNamespace() { return StringLiteral(text); }           \
  }
FOREIGN(Shardy, "sdy");
FOREIGN(StableHlo, "stablehlo");
FOREIGN(Chlo, "chlo");
FOREIGN(Vhlo, "vhlo");
#undef FOREIGN

/// Adds the dialects that `known` does not have: a host may have the real ones.
template <typename... Dialects>
void addForeign(DialectRegistry &registry, const DialectRegistry &known) {
  ((known.getDialectAllocator(Dialects::getDialectNamespace()) ? void()
                                                               : registry.insert<Dialects>()),
   ...);
}

/// A note that is longer than the error and says less than the hint.
bool isDump(Diagnostic &note) {
  std::string text = note.str();
  return StringRef(text).starts_with("Available dialects") ||
         StringRef(text).starts_with("see current operation");
}

/// Adds the way out as a note to an error of the parser. The next handler prints both.
LogicalResult addHint(Diagnostic &error) {
  std::string message = error.str();
  if (error.getSeverity() != DiagnosticSeverity::Error || !tp__is_parse_error(message.c_str()))
    return failure();
  if (llvm::any_of(error.getNotes(), isDump) || StringRef(message).contains('\n')) {
    // again, with our note in place of the dumps
    StringRef line = StringRef(message).split('\n').first.rtrim();
    line.consume_back(", has");
    emitError(error.getLocation()) << line;
    return success();
  }
  MLIRContext *context = error.getLocation()->getContext();
  SmallVector<const char *> ops, dialects;
  for (RegisteredOperationName name : context->getRegisteredOperations())
    ops.push_back(name.getStringRef().data());
  std::vector<StringRef> available = context->getAvailableDialects();
  for (StringRef name : available)
    dialects.push_back(name.data());
  tp_known_names known = {static_cast<int>(ops.size()), static_cast<int>(dialects.size()),
                          ops.data(), dialects.data()};
  char hint[TP_PARSE_HINT];
  if (tp__parse_hint(message.c_str(), wrap(error.getLocation()), &known, hint))
    error.attachNote() << Twine(hint); // a copy
  return failure();
}

/// Handlers are called last to first. The function's dialect is loaded when the program is parsed
/// or, in a context of the host, prepared: then those that print are there.
void addHints(MLIRContext *context, func::FuncDialect *) {
  context->getDiagEngine().registerHandler(addHint);
}

void addAll(DialectRegistry &registry, const DialectRegistry &known) {
  tp::registerUpstream(registry);
  addForeign<Shardy, StableHlo, Chlo, Vhlo>(registry, known);
  registry.addExtension(addHints);
}

/// The flag --tp-explain of shard-opt: the value of every option `explain` that is not given.
/// `used` is set if some pass has that option.
struct ExplainFlag {
  std::string value;
  std::atomic<bool> used{false};
};
ExplainFlag explainFlag;

/// The data that a pass leaves for the next one, as an analysis of the module. Only the pass that
/// created it preserves it.
class Legacy {
public:
  explicit Legacy(Operation *) {}
  Legacy(const Legacy &) = delete;
  Legacy &operator=(const Legacy &) = delete;
  ~Legacy() { take({}); }

  void take(tp_legacy next) {
    if (left.drop)
      left.drop(left.data);
    left = next;
  }
  const void *data() const { return left.data; }

private:
  tp_legacy left = {};
};

} // namespace

MLIR_DECLARE_EXPLICIT_TYPE_ID(Legacy)
MLIR_DEFINE_EXPLICIT_TYPE_ID(Legacy)

namespace {

/// Adds the option of a row. MLIR takes its value as a text; tp__parse_options parses it.
template <typename Options, typename Parent>
void addOption(Options &options, Parent &parent, const tp_option_row &row) {
  options.emplace_back(parent, row.name, llvm::cl::desc(row.help), llvm::cl::value_desc(row.values),
                       llvm::cl::init(std::string(row.default_value)));
}

/// A row of the pass table as an MLIR pass on modules.
class TablePass : public OperationPass<ModuleOp> {
public:
  TablePass(const tp_pass_row *passRow, TypeID id) : OperationPass<ModuleOp>(id), row(passRow) {
    addOptions();
  }
  TablePass(const TablePass &other) : OperationPass<ModuleOp>(other), row(other.row) {
    addOptions();
    copyOptionValuesFrom(&other);
  }

  StringRef getName() const override { return row->name; }
  StringRef getArgument() const override { return row->name; }
  StringRef getDescription() const override { return row->summary; }
  void getDependentDialects(DialectRegistry &registry) const override { addDialects(registry); }
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<TablePass>(*this); }

  void runOnOperation() override {
    tp_pass pass = {};
    pass.module = wrap(getOperation().getOperation());
    pass.context = wrap(&getContext());
    pass.name = row->name;
    pass.adapter = this;
    SmallVector<std::max_align_t> parsed(row->options_size / sizeof(std::max_align_t) + 1);
    pass.options = parsed.data();
    if (auto legacy = getCachedAnalysis<Legacy>())
      pass.inherited = legacy->get().data();
    ScopedDiagnosticHandler shown(&getContext(), [](Diagnostic &) {
      tp__watch_diagnostic();
      return failure(); // the next handler prints it
    });
    tp__run_begin();
    tp__watch_pass(row->name);
    tp_status status = tp__parse_options(pass.module, row->options, row->n_options,
                                         optionTexts().data(), parsed.data());
    if (status == TP_OK)
      status = tp__check_ends(pass.module, row->takes_comparators);
    if (status == TP_OK && tp__run_hooks_cancel(row->name))
      status = tp__error(pass.module, TP_CANCELLED, "cancelled before %s", row->name);
    if (status == TP_OK)
      status = row->run(&pass);
    status = tp__run_end(pass.module, row->name, status);
    tp__watch_pass("");
    handOn(pass.left);
    for (int i = 0; i < row->n_statistics; i++)
      statistics[i] += pass.statistics[i];
    if (status != TP_OK)
      signalPassFailure();
  }

  bool runNested(Operation *func, const char *pipeline) {
    OpPassManager nested(func::FuncOp::getOperationName());
    return succeeded(parsePassPipeline(pipeline, nested)) && succeeded(runPipeline(nested, func));
  }

private:
  SmallVector<const char *> optionTexts() const {
    SmallVector<const char *> texts;
    for (int i = 0; i < row->n_options; i++) {
      texts.push_back(options[i].getValue().c_str());
      if (StringRef(row->options[i].name) != "explain" || explainFlag.value.empty())
        continue;
      explainFlag.used = true;
      if (options[i].getValue().empty())
        texts.back() = explainFlag.value.c_str();
    }
    return texts;
  }

  /// Stores the data for the next pass. Not needed after a failure, which ends the pipeline.
  void handOn(tp_legacy left) {
    if (!left.data)
      return;
    getAnalysis<Legacy>().take(left);
    markAnalysesPreserved<Legacy>();
  }

  void addOptions() {
    for (int i = 0; i < row->n_options; i++)
      addOption(options, *this, row->options[i]);
    for (int i = 0; i < row->n_statistics; i++)
      statistics.emplace_back(this, row->statistics[i].name, row->statistics[i].help);
  }

  const tp_pass_row *row;
  std::deque<Option<std::string>> options; // a deque, because options register their own addresses
  std::deque<Statistic> statistics;
};

/// Returns the type ID of the passes of a row.
TypeID typeOf(const tp_pass_row *row) {
  static TypeIDAllocator allocator;
  static llvm::DenseMap<const tp_pass_row *, TypeID> ids;
  static std::mutex mutex;
  std::lock_guard<std::mutex> guard(mutex);
  auto [at, isNew] = ids.try_emplace(row, TypeID::get<void>());
  if (isNew)
    at->second = allocator.allocate();
  return at->second;
}

/// The options of a row of the pipeline table.
struct RowOptions : public detail::PassOptions {
  explicit RowOptions(const tp_pipeline_row &row) {
    for (int i = 0; i < tp__pipeline_option_count(&row); i++)
      addOption(values, *this, tp__pipeline_option(&row, i));
  }
  SmallVector<const char *> texts() const {
    SmallVector<const char *> texts;
    for (const Option<std::string> &value : values)
      texts.push_back(value.getValue().c_str());
    return texts;
  }
  std::deque<Option<std::string>> values;
};

void registerPipeline(const tp_pipeline_row &row) {
  registerPassPipeline(
      row.name, row.summary,
      [&row](OpPassManager &pm, StringRef text,
             function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
        RowOptions options(row);
        std::string message;
        llvm::raw_string_ostream stream(message);
        if (failed(options.parseFromString(text, stream)))
          return error(message);
        char *passes = tp__pipeline_text(&row, options.texts().data());
        if (!passes)
          return error("out of memory");
        LogicalResult result = parsePassPipeline(passes, pm);
        tp__free(passes);
        return result;
      },
      [&row](function_ref<void(const detail::PassOptions &)> visit) { visit(RowOptions(row)); });
}

void registerAll() {
  static std::once_flag once;
  std::call_once(once, [] {
    int n = 0;
    const tp_pass_row *const *passes = tp__pass_rows(&n);
    for (int i = 0; i < n; i++) {
      const tp_pass_row *row = passes[i];
      registerPass([row] { return std::make_unique<TablePass>(row, typeOf(row)); });
    }
    const tp_pipeline_row *pipelines = tp__pipeline_rows(&n);
    for (int i = 0; i < n; i++)
      registerPipeline(pipelines[i]);
  });
}

} // namespace

MlirPass tp__create_pass(const tp_pass_row *row, MlirContext context, const char *options) {
  auto pass = std::make_unique<TablePass>(row, typeOf(row));
  LogicalResult parsed = pass->initializeOptions(options ? options : "", [&](const Twine &message) {
    return emitError(UnknownLoc::get(unwrap(context))) << row->name << ": " << message;
  });
  return wrap(static_cast<Pass *>(succeeded(parsed) ? pass.release() : nullptr));
}

bool tp__run_nested(const tp_pass *pass, MlirOperation func, const char *pipeline) {
  return static_cast<TablePass *>(pass->adapter)->runNested(unwrap(func), pipeline);
}

void tp_register_passes(void) {
  static std::once_flag once;
  std::call_once(once, [] { tp::registerUpstreamPasses(); });
  registerAll();
}

void tp_context_prepare(MlirContext context) {
  DialectRegistry registry;
  addAll(registry, unwrap(context)->getDialectRegistry());
  unwrap(context)->appendDialectRegistry(registry);
  for (auto &dialect : createdDialects)
    if (dialect.isPrepared)
      mlirDialectHandleLoadDialect(dialect.handle(), context);
}

void tp__emit(MlirLocation location, tp_severity severity, const char *message, const char *note) {
  static const DiagnosticSeverity severities[] = {
      DiagnosticSeverity::Error, DiagnosticSeverity::Warning, DiagnosticSeverity::Remark};
  Location loc = unwrap(location);
  InFlightDiagnostic d = loc->getContext()->getDiagEngine().emit(loc, severities[severity]);
  std::string shown(tp__visible(message, "\n", 0, nullptr), 0);
  tp__visible(message, "\n", shown.size() + 1, shown.data());
  d << shown;
  if (note)
    d.attachNote(loc) << note;
}

namespace {

bool isOutside(Operation *root, Value value) {
  return !root->isAncestor(value.getParentRegion()->getParentOp());
}

uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

uint64_t mix(uint64_t hash, const void *pointer) {
  return mix(hash, reinterpret_cast<uintptr_t>(pointer));
}

/// Hashes the op and its regions. False if a region captures a tensor.
bool addLikeness(Operation *root, Operation *op, uint64_t &hash) {
  hash = mix(hash, op->getName().getAsOpaquePointer());
  hash = mix(hash, static_cast<size_t>(op->hashProperties()) ^ op->getNumOperands());
  for (Type type : op->getResultTypes())
    hash = mix(hash, type.getAsOpaquePointer());
  for (Value value : op->getOperands()) {
    if (op != root && isa<TensorType>(value.getType()) && isOutside(root, value))
      return false;
    hash = mix(hash, value.getType().getAsOpaquePointer());
  }
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      if (!addLikeness(root, &inner, hash))
        return false;
  return true;
}

/// Compares two ops in parallel.
class Comparison {
public:
  bool areAlike(Operation *a, Operation *b) {
    if (a->getName() != b->getName() || a->getNumOperands() != b->getNumOperands() ||
        a->getResultTypes() != b->getResultTypes() || a->getNumRegions() != b->getNumRegions() ||
        a->getNumSuccessors() + b->getNumSuccessors() > 0 ||
        !a->getName().compareOpProperties(a->getPropertiesStorage(), b->getPropertiesStorage()))
      return false;
    for (auto [x, y] : llvm::zip_equal(a->getOperands(), b->getOperands()))
      if (!areAlike(x, y))
        return false;
    for (auto [r, s] : llvm::zip_equal(a->getRegions(), b->getRegions()))
      if (!areAlike(r, s))
        return false;
    return true;
  }

private:
  bool areAlike(Value a, Value b) {
    auto known = same.find(a);
    if (known != same.end())
      return known->second == b;
    if (a.getType() != b.getType())
      return false;
    if (isa<TensorType>(a.getType()))
      return depth == 0; // an operand of the op, or captured by its region
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    return a == b ||
           (x && y && isConstant(x) && x->getName() == y->getName() &&
            x->getName().compareOpProperties(x->getPropertiesStorage(), y->getPropertiesStorage()));
  }

  /// By name: the trait ConstantLike has another identity in this library than in MLIR's.
  static bool isConstant(Operation *op) {
    StringRef name = op->getName().getStringRef();
    return name == "arith.constant" || name == "complex.constant";
  }

  bool areAlike(Region &a, Region &b) {
    if (a.empty() != b.empty() || (!a.empty() && (!a.hasOneBlock() || !b.hasOneBlock())))
      return false;
    if (a.empty())
      return true;
    if (a.getArgumentTypes() != b.getArgumentTypes())
      return false;
    for (auto [x, y] : llvm::zip_equal(a.getArguments(), b.getArguments()))
      same[x] = y;
    depth++;
    auto i = a.front().begin(), j = b.front().begin();
    for (; i != a.front().end() && j != b.front().end(); ++i, ++j) {
      if (!areAlike(&*i, &*j))
        return false;
      for (auto [x, y] : llvm::zip_equal(i->getResults(), j->getResults()))
        same[x] = y;
    }
    depth--;
    return i == a.front().end() && j == b.front().end();
  }

  int depth = 0; ///< of the regions that are being compared

  llvm::SmallDenseMap<Value, Value, 16> same; ///< maps values inside of the regions, which are few
};

bool isStructured(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return dialect == "linalg" || dialect == "tensor";
}

tp_status walk(Operation *op, unsigned choices, tp_visit visit, void *data) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (auto next = block.begin(); next != block.end();) {
        Operation *child = &*next++;
        if (next != block.end()) // loaded while the child and its regions are visited
          __builtin_prefetch(&*next);
        bool hasRegions = child->getNumRegions() > 0;
        if (!(choices & TP_WALK_ANNOTATED) || !child->getRawDictionaryAttrs().empty() ||
            (hasRegions && isa<func::FuncOp>(child)))
          if (tp_status status = visit(wrap(child), data))
            return status;
        if (hasRegions && !(choices & TP_WALK_OUTSIDE && isStructured(child)))
          if (tp_status status = walk(child, choices, visit, data))
            return status;
      }
  return TP_OK;
}

} // namespace

bool tp__op_structure_hash(MlirOperation op, uint64_t *hash) {
  *hash = 0;
  return addLikeness(unwrap(op), unwrap(op), *hash);
}

MlirAttribute tp__get(MlirOperation op, const char *name) {
  DictionaryAttr attributes = unwrap(op)->getRawDictionaryAttrs();
  return wrap(attributes.empty() ? Attribute() : attributes.get(name));
}

MlirAttribute tp__attributes(MlirOperation op) { return wrap(unwrap(op)->getRawDictionaryAttrs()); }

void tp__set_attributes(MlirOperation op, MlirAttribute dictionary) {
  unwrap(op)->setDiscardableAttrs(cast<DictionaryAttr>(unwrap(dictionary)));
}

MlirStringRef tp__op_name(MlirOperation op) {
  StringRef name = unwrap(op)->getName().getStringRef();
  return {name.data(), name.size()};
}

tp_status tp__walk_some(MlirOperation op, unsigned choices, tp_visit visit, void *data) {
  return walk(unwrap(op), choices, visit, data);
}

void tp__prefetch_op(MlirOperation op, bool isNear) {
  constexpr int line = 64;
  auto *address = static_cast<const char *>(op.ptr);
  if (!isNear) {
    for (int offset : {-line / 2, line / 2, 3 * line / 2, 5 * line / 2})
      __builtin_prefetch(address + offset);
    return;
  }
  Operation *near = unwrap(op);
  if (near->getNumRegions() == 0 || near->getRegion(0).empty())
    return;
  auto *block = reinterpret_cast<const char *>(&near->getRegion(0).front());
  __builtin_prefetch(block);
  __builtin_prefetch(block + line);
}

MlirOperation tp__previous_op(MlirOperation op) { return wrap(unwrap(op)->getPrevNode()); }

int tp__tensor_sizes(MlirType type, const int64_t **sizes) {
  auto tensor = dyn_cast<RankedTensorType>(unwrap(type));
  if (!tensor)
    return -1;
  *sizes = tensor.getShape().data();
  return static_cast<int>(tensor.getRank());
}

bool tp__resource_data(MlirAttribute resource, const void **data, size_t *n) {
  auto elements = cast<DenseResourceElementsAttr>(unwrap(resource));
  const AsmResourceBlob *blob = elements.getRawHandle().getBlob();
  if (!blob)
    return false;
  *data = blob->getData().data();
  *n = blob->getData().size();
  return true;
}

bool tp__ops_equivalent(MlirOperation a, MlirOperation b) {
  return Comparison().areAlike(unwrap(a), unwrap(b));
}

void tp_opt_abandon(void) { llvm::sys::RunInterruptHandlers(); }

int tp_opt_main(int argc, char **argv) {
  tp_register_passes();
  DialectRegistry registry;
  addAll(registry, registry);
  static llvm::cl::opt<std::string, true> explain(
      "tp-explain", llvm::cl::location(explainFlag.value),
      llvm::cl::value_desc("name|tp.name|FILE:LINE"),
      llvm::cl::desc("Explain the layout of a value (sets option explain of tp-propagate)"));
  int code = asMainReturnCode(
      MlirOptMain(argc, argv, "tpshard: tensor-parallel SPMD passes for MLIR\n", registry));
  if (code == 0 && !explainFlag.value.empty() && !explainFlag.used) {
    llvm::errs() << "shard-opt: error: --tp-explain needs tp-propagate, which did not run; add "
                    "tp-propagate or tp-spmd to the pipeline\n";
    return 1;
  }
  return code;
}

// The strong definition of a symbol that MLIR's header declares weak.
extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "tpshard", tp_version(), registerAll};
}
